/**
 * Reads the small XML documents of S3, which consist of elements and text, without a document type. Throws if a document
 * is not well formed. Ignores attributes, which are namespaces only.
 */

export interface XmlElement {
  readonly name: string;
  readonly children: readonly XmlElement[];
  /** The text of the element itself, with entities resolved. */
  readonly text: string;
}

const token =
  /<\?[^>]*\?>|<!--(?:(?!--).)*-->|<(?<open>[A-Za-z_][\w.:-]*)(?:\s+[\w.:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*\s*(?<empty>\/?)>|<\/(?<close>[A-Za-z_][\w.:-]*)\s*>|(?<text>[^<]+)/sy;

export function readXml(source: string): XmlElement {
  const root = { name: '', children: [] as XmlElement[], text: '' };
  const open = [root];
  token.lastIndex = source.startsWith('\uFEFF') ? 1 : 0;
  while (token.lastIndex < source.length) {
    const at = token.lastIndex;
    const groups = token.exec(source)?.groups;
    const inner = open.at(-1);
    if (groups === undefined || inner === undefined) throw new Error(`the XML is not well formed at ${at}`);
    if (groups.open !== undefined) {
      const element = { name: groups.open, children: [], text: '' };
      inner.children.push(element);
      if (groups.empty === '') open.push(element);
    } else if (groups.close !== undefined) {
      if (inner === root || inner.name !== groups.close) throw new Error(`the XML is not well formed at ${at}`);
      open.pop();
    } else if (groups.text !== undefined) inner.text += resolveEntities(groups.text);
  }
  const [document] = root.children;
  if (document === undefined || root.children.length > 1 || open.length > 1 || root.text.trim() !== '')
    throw new Error('the XML has no single document element');
  return document;
}

/** Returns the text of the first child with this name. */
export function textOf(element: XmlElement, name: string): string | undefined {
  return element.children.find((child) => child.name === name)?.text;
}

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function resolveEntities(text: string): string {
  return text.replace(/&(#x[0-9a-f]+|#\d+|\w+)?;?/gi, (entity, name: string | undefined) => {
    const resolved = name?.startsWith('#') ? numbered(name) : named[name ?? ''];
    if (resolved === undefined || !entity.endsWith(';')) throw new Error(`the XML names an unknown entity`);
    return resolved;
  });
}

function numbered(name: string): string | undefined {
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : undefined;
}

/** As `textOf`, but throws if there is no such child. */
export function requiredTextOf(element: XmlElement, name: string): string {
  const text = textOf(element, name);
  if (text === undefined) throw new Error(`the response of the S3 server lacks ${name}`);
  return text;
}
