/** The outbox: mail that a local installation stores as files, read for the Mail page (docs/notify.md). */
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Address, Email } from 'postal-mime';
import { problems } from '#platform/problem.ts';
import type { Mail, MailList } from './api.ts';

const longestList = 100;
const largestMailBytes = 16 * 1024 * 1024;

export async function listMails(folder: string): Promise<MailList> {
  const names = (await readdir(folder).catch(() => [])).filter(
    (name) => name.endsWith('.eml') && !name.startsWith('.'),
  );
  const files = await Promise.all(
    names.map(async (name) => ({
      name,
      at: await stat(join(folder, name))
        .then(({ mtime }) => mtime)
        .catch(() => undefined),
    })),
  );
  const newest = files
    .flatMap(({ name, at }) => (at === undefined ? [] : [{ name, at }]))
    .sort((one, other) => other.at.getTime() - one.at.getTime())
    .slice(0, longestList);
  const mails = await Promise.all(
    newest.map(async ({ name, at }) => {
      const email = await parseMail(folder, name);
      return email === undefined ? [] : [headOf(name, at, email)];
    }),
  );
  return { mails: mails.flat(), total: names.length };
}

/** Throws 404 if there is no such mail. */
export async function readMail(folder: string, name: string): Promise<Mail> {
  const email = await parseMail(folder, name);
  if (email === undefined) throw problems.not_found();
  const { mtime } = await stat(join(folder, name));
  return {
    ...headOf(name, mtime, email),
    text: email.text ?? '',
    hasHtml: email.html !== undefined,
    attachments: email.attachments.map(({ filename, mimeType }) => filename ?? mimeType),
  };
}

/** Throws 404 if there is no such mail, or if it has no HTML part. */
export async function readMailHtml(folder: string, name: string): Promise<string> {
  const email = await parseMail(folder, name);
  if (email?.html === undefined) throw problems.not_found();
  return email.html;
}

function headOf(
  name: string,
  writtenAt: Date,
  { subject = '', from, to = [], date }: Email,
): MailList['mails'][number] {
  const parsedDate = new Date(date ?? '');
  return {
    name,
    subject,
    from: from === undefined ? '' : spell(from),
    to: to.map(spell),
    sentAt: (Number.isNaN(parsedDate.getTime()) ? writtenAt : parsedDate).toISOString(),
  };
}

function spell({ name, address, group }: Address): string {
  if (group !== undefined) return group.map(spell).join(', ');
  return name ? `${name} <${address}>` : (address ?? '');
}

async function parseMail(folder: string, name: string): Promise<Email | undefined> {
  const file = await open(join(folder, name)).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    if (size > largestMailBytes) return undefined;
    const { default: PostalMime } = await import('postal-mime');
    return await PostalMime.parse(await file.readFile());
  } finally {
    await file.close();
  }
}

/** Mail is untrusted content, so it may neither run scripts nor load anything. */
export const mailPolicy =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";
