/** HTML in which every value is escaped, unless it is HTML itself. */
export interface Markup {
  readonly text: string;
}

type Value = string | Markup | readonly Markup[];

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Markup {
  return { text: parts.map((part, index) => part + show(values[index] ?? '')).join('') };
}

function show(value: Value): string {
  if (typeof value === 'string') return value.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
  return 'text' in value ? value.text : value.map(({ text }) => text).join('\n');
}
