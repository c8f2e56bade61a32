// The test vectors that all ways to the solver share.

/** Throws unless a value has all expected members. Numbers may differ in their last digits. */
export function assertHas(value, expected, at) {
  if (expected === null || typeof expected !== 'object') {
    const isNear = typeof expected === 'number' && Math.abs(value - expected) <= 1e-12 * Math.abs(expected);
    if (value !== expected && !isNear) throw new Error(`${at}: ${value}, not ${expected}`);
    return;
  }
  if (Array.isArray(expected) && value?.length !== expected.length) throw new Error(`${at}: ${value}`);
  for (const [name, member] of Object.entries(expected)) assertHas(value?.[name], member, `${at}/${name}`);
}

/** Runs a vector by the functions of the package. */
export async function check(taquin, { name, operation, request, response, problem }) {
  const { board, moves, tiles, ...options } = request;
  const given = { solve: [board], hint: [board], explain: [board], verify: [board, moves ?? tiles], random: [] };
  let result;
  try {
    result = await taquin[operation](...given[operation], options);
  } catch (error) {
    if (!(error instanceof taquin.TaquinError) || !problem) throw error;
    return assertHas(error.problem, problem, name);
  }
  if (problem) throw new Error(`${name}: no problem`);
  assertHas(result, response, name);
}
