/** Colors of code, loaded with the first code that names a language. */
import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import go from 'highlight.js/lib/languages/go';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { createLowlight } from 'lowlight';
import type { ReactNode } from 'react';

const lowlight = createLowlight({
  ...{ bash, c, cpp, css, diff, go, java, javascript, json, python, rust, sql, typescript, xml, yaml },
});

type Node = ReturnType<typeof lowlight.highlight>['children'][number];

/** Plain text if the language is unknown. */
export function Highlighted({ text, language }: { readonly text: string; readonly language: string }) {
  if (!lowlight.registered(language)) return text;
  return lowlight.highlight(language, text).children.map(show);
}

function show(node: Node, place: number): ReactNode {
  if (node.type === 'text') return node.value;
  if (node.type !== 'element') return null;
  const { className } = node.properties;
  return (
    <span key={place} className={Array.isArray(className) ? className.join(' ') : ''}>
      {node.children.map(show)}
    </span>
  );
}
