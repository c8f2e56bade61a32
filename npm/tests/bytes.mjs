// Prints the size of the installed package as browsers load it, compressed: node bytes.mjs PACKAGE_DIRECTORY
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const most = 400 * 1024;
const folder = join(process.argv[2], 'taquin');
const isLoaded = (name) => /\.(js|wasm)$/.test(name) && !name.startsWith('node');
const files = readdirSync(folder, { recursive: true }).filter(isLoaded);
const sizes = files.map((name) => {
  const content = readFileSync(join(folder, name));
  return [name, content.length, gzipSync(content, { level: 9 }).length, brotliCompressSync(content).length];
});
const total = sizes.reduce((sum, sizes) => sum.map((bytes, at) => bytes + sizes[at + 1]), [0, 0, 0]);
for (const [name, ...bytes] of [...sizes, ['total', ...total]]) {
  console.log(`${name}: ${bytes[0]} bytes, gzip ${bytes[1]}, brotli ${bytes[2]}`);
}
if (total[2] > most) throw new Error(`the package has more than ${most} bytes, compressed by brotli`);
