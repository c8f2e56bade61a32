// 431 has no body. That would make the body of every error unknown.
const withoutBody = (response) => {
  response.content = { 'application/json': { schema: { type: 'null' } } };
};

export default {
  input: '../openapi.json',
  output: { path: 'generated/hey-api', module: { extension: '.js' } },
  parser: { filters: { tags: { exclude: ['links'] } }, patch: { responses: { HeadTooLarge: withoutBody } } },
  plugins: ['@hey-api/typescript', '@hey-api/sdk', '@hey-api/client-fetch'],
};
