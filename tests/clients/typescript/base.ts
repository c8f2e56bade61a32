// The service that the clients use.

const [, , given] = process.argv;
if (given === undefined) throw new Error('usage: node CLIENT BASE');

/** The address of the service, without a slash at its end. */
export const base = given;
