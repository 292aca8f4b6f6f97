/** Builds HTML in which every value is escaped, unless it is already HTML. */
import { escapeHtml } from './escaping.ts';

export interface Markup {
  readonly text: string;
}

type Value = string | Markup | readonly Markup[];

export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Markup {
  return { text: parts.map((part, index) => part + show(values[index] ?? '')).join('') };
}

function show(value: Value): string {
  if (typeof value === 'string') return escapeHtml(value);
  return 'text' in value ? value.text : value.map(({ text }) => text).join('\n');
}
