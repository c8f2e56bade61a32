// Renders the Markdown of the OpenAPI document: paragraphs, lists, code, emphasis, links.

import { el } from './dom.js';

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\(([^)\s]+)\)/g;

/** Returns the nodes of inline Markdown. */
function inline(text) {
  const nodes = [];
  let from = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, code, strong, emphasis, linked, target] = match;
    nodes.push(text.slice(from, match.index));
    if (code) nodes.push(el('code', {}, code));
    else if (strong) nodes.push(el('strong', {}, inline(strong)));
    else if (emphasis) nodes.push(el('em', {}, emphasis));
    else nodes.push(/^(https?:|\/|#)/.test(target) ? el('a', { href: target }, linked) : linked);
    from = match.index + whole.length;
  }
  return [...nodes, text.slice(from)].filter((node) => node !== '');
}

/** Returns the blocks of a text. */
export function prose(text = '') {
  const blocks = [];
  const lines = text.split('\n');
  while (lines.length) {
    const line = lines.shift();
    if (line.startsWith('```')) {
      const code = lines.splice(0, lines.indexOf('```'));
      lines.shift();
      blocks.push(el('pre', { tabindex: 0 }, el('code', {}, code.join('\n'))));
    } else if (line.startsWith('- ')) {
      const items = [line.slice(2)];
      while (lines[0]?.trim()) {
        const next = lines.shift();
        if (next.startsWith('- ')) items.push(next.slice(2));
        else items.push(`${items.pop()} ${next.trim()}`);
      }
      blocks.push(el('ul', {}, items.map((item) => el('li', {}, inline(item)))));
    } else if (line.trim()) {
      const paragraph = [line];
      while (lines[0]?.trim() && !lines[0].startsWith('- ') && !lines[0].startsWith('```')) paragraph.push(lines.shift());
      blocks.push(el('p', {}, inline(paragraph.join(' '))));
    }
  }
  return blocks;
}
