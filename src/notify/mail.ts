import { domainToASCII } from 'node:url';

/** A mail for a channel: rendered, validated, and identical in each attempt. */
export interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  readonly replyTo: readonly string[];
  readonly subject: string;
  readonly html?: string | undefined;
  readonly text?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Absent: none. */
  readonly attachments?: readonly Attachment[] | undefined;
  readonly tags?: readonly Tag[] | undefined;
  /** `account`: about the account itself, so a complaint does not block it. Absent: `product`. */
  readonly audience?: 'account' | 'product' | undefined;
}

export interface Attachment {
  readonly filename: string;
  /** base64 */
  readonly content: string;
  /** By default, the type of the file name's extension. */
  readonly contentType?: string | undefined;
  /** The HTML shows it as `cid:<contentId>`. */
  readonly contentId?: string | undefined;
}

export interface Tag {
  readonly name: string;
  readonly value: string;
}

/** A quoted name can contain every character (RFC 5322 §3.2.4). */
const mailbox = /^(?:"((?:[^"\\]|\\.)*)"\s*<([^<>]+)>|([^<>@]*)<([^<>]+)>|([^<>]+))$/;
const local = /^[^\s@<>(),;:\\"[\]]{1,64}$/;
const domain =
  /^(?=.{1,253}$)[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?(?:\.[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?)+$/u;

export interface Mailbox {
  /** Empty: none. */
  readonly name: string;
  readonly address: string;
}

/** Reads `address` or `Name <address>`. Returns `undefined` if it is invalid. */
export function mailboxOf(text: string): Mailbox | undefined {
  // A line break would start another header.
  if (hasControls(text) || text.length > 512) return undefined;
  const [, quoted, ofQuoted, plain = '', ofPlain, bare] = mailbox.exec(text.trim()) ?? [];
  const address = (ofQuoted ?? ofPlain ?? bare ?? '').trim();
  const at = address.lastIndexOf('@');
  const isAddress = local.test(address.slice(0, Math.max(at, 0))) && domain.test(address.slice(at + 1));
  return isAddress ? { name: quoted?.replaceAll(/\\(.)/g, '$1') ?? plain.trim(), address } : undefined;
}

/**
 * Returns the bare address, or `undefined` if it is invalid. Every spelling of an address has the same one: in lower case, with
 * the domain in ASCII, as mail servers know it.
 */
export function addressOf(text: string): string | undefined {
  const address = mailboxOf(text)?.address.toLowerCase();
  if (address === undefined) return undefined;
  const at = address.lastIndexOf('@') + 1;
  return address.slice(0, at) + (domainToASCII(address.slice(at)) || address.slice(at));
}

export function hasControls(text: string): boolean {
  return /\p{Cc}|[\u2028\u2029]/u.test(text);
}

export function recipientsOf(mail: Mail): readonly string[] {
  return [...mail.to, ...mail.cc, ...mail.bcc].map(bareAddressOf);
}

/** Returns the mail for the other recipients. `addresses`: bare, in lower case. */
export function withoutRecipients(mail: Mail, addresses: readonly string[]): Mail {
  const left = (mailboxes: readonly string[]) => mailboxes.filter((text) => !addresses.includes(bareAddressOf(text)));
  return { ...mail, to: left(mail.to), cc: left(mail.cc), bcc: left(mail.bcc) };
}

const bareAddressOf = (text: string) => addressOf(text) ?? text;
