/** Applies the rules to the sentences of a Markdown file. Code, URLs and HTML are no prose. */
import { parse } from '@textlint/markdown-to-ast';
import { codeMask, findFaults } from './faults.ts';

export interface Found {
  readonly line: number;
  readonly message: string;
}

interface Node {
  readonly type: string;
  readonly range: readonly [start: number, end: number];
  readonly children?: readonly Node[];
}

const blocks = ['Paragraph', 'Header', 'TableCell'];

export function lintMarkdown(text: string): readonly Found[] {
  return findBlocks(parse(text)).flatMap((block) =>
    findFaults(maskMarkup(block, text)).map(({ index, message }) => ({
      line: text.slice(0, block.range[0] + index).split('\n').length,
      message,
    })),
  );
}

function findBlocks(node: Node): readonly Node[] {
  return blocks.includes(node.type) ? [node] : (node.children ?? []).flatMap(findBlocks);
}

/** Returns the text of a block with the same length, in which code is one word, and other markup is blank. */
function maskMarkup({ range: [start, end], children = [] }: Node, text: string): string {
  const characters = Array<string>(end - start).fill(' ');
  const visit = ({ type, range: [from, to], children = [] }: Node) => {
    if (type === 'Str') for (let at = from; at < to; at += 1) characters[at - start] = text[at] ?? ' ';
    else if (type === 'Code') characters.fill(codeMask, from - start, to - start);
    else children.forEach(visit);
  };
  children.forEach(visit);
  return characters.join('').replaceAll('\n', ' ');
}
