// Answers for paths that the service under test does not have yet, made of those it has. With a service that has them
// all, nothing here does anything.

const ask = async (page, path, body) => {
  const response = await page.request.post(new URL(path, page.url()).href, { data: body, failOnStatusCode: false });
  return { isOk: response.ok(), json: await response.json() };
};

const MOVES = { U: -1, D: 1 };

function slid(board, move) {
  const next = board.map((row) => [...row]);
  const row = next.findIndex((cells) => cells.includes(0));
  const col = next[row].indexOf(0);
  const [toRow, toCol] = move in MOVES ? [row + MOVES[move], col] : [row, col + (move === 'L' ? -1 : 1)];
  next[row][col] = next[toRow][toCol];
  next[toRow][toCol] = 0;
  return next;
}

const ANSWERS = {
  async '/hint'(page, question) {
    const { json } = await ask(page, '/solve', question);
    const move = json.moves[0] ?? null;
    return { move, tile: json.tiles[0] ?? null, length: json.length, remaining: Math.max(0, json.length - 1), optimal: json.optimal, lower_bound: json.lower_bound, board: move ? slid(question.board, move) : question.board };
  },
  async '/verify'(page, { board, goal, moves }) {
    const final = [...moves].reduce(slid, board);
    const { json } = await ask(page, '/solve', { board: final, goal });
    return { legal: true, illegal: null, final, solves: json.length === 0, length: moves.length };
  },
  async '/compare'(page, { methods, ...question }) {
    const results = [];
    for (const method of methods) {
      const { isOk, json } = await ask(page, '/solve', { ...question, ...method });
      results.push(isOk ? json : { ...method, problem: json });
    }
    return { results };
  },
};

export async function standIn(page, contract) {
  for (const [path, answer] of Object.entries(ANSWERS)) {
    if (contract.paths[path]) continue;
    await page.route(`**${path}`, async (route) => route.fulfill({ json: await answer(page, route.request().postDataJSON()) }));
  }
}
