/** Escapes text for HTML and XML. */

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text content and quoted attribute values. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);
}

export function escapeXml(text: string): string {
  return escapeHtml(text).replaceAll('&#39;', '&apos;');
}

// Builds HTML in which every value is escaped, unless it is already HTML.

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
