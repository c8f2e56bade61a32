/** Leaves only JSON in responses of several media types, which orval would make unions with strings. */
function onlyJson(contract) {
  const operations = Object.values(contract.paths).flatMap((item) => Object.values(item));
  for (const response of [contract.components, ...operations].flatMap(({ responses }) => Object.values(responses))) {
    const json = Object.entries(response.content ?? {}).filter(([mediaType]) => /[/+]json$/.test(mediaType));
    if (json.length) response.content = Object.fromEntries(json);
  }
  return contract;
}

export default {
  taquin: {
    input: {
      target: '../openapi.json',
      filters: { mode: 'exclude', tags: ['links'] },
      override: { transformer: onlyJson },
    },
    output: { target: 'generated/orval.ts', client: 'fetch', baseUrl: process.env.BASE },
  },
};
