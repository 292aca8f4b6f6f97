/** The outbox: mail that a local installation stores as files, read for the Mail page (docs/notify.md). */
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Address } from 'postal-mime';
import { problems } from '#platform/problem.ts';
import type { Mail, MailList } from './api.ts';

const longestList = 100;
const largestMailBytes = 16 * 1024 * 1024;

export async function listMails(folder: string): Promise<MailList> {
  const names = (await readdir(folder).catch(() => [])).filter(
    (name) => name.endsWith('.eml') && !name.startsWith('.'),
  );
  const files = await Promise.all(
    names.map(async (name) => ({ name, at: (await stat(join(folder, name)).catch(() => undefined))?.mtimeMs ?? 0 })),
  );
  const newest = files.sort((one, other) => other.at - one.at).slice(0, longestList);
  const found = await Promise.all(newest.map(({ name }) => findMail(folder, name)));
  return { mails: found.flatMap((mail) => mail?.head ?? []), total: names.length };
}

/** Throws 404 if there is no such mail. */
export async function readMail(folder: string, name: string): Promise<Mail> {
  const { head, email } = (await findMail(folder, name)) ?? unknown();
  return {
    ...head,
    text: email.text ?? '',
    hasHtml: email.html !== undefined,
    attachments: email.attachments.map(({ filename, mimeType }) => filename ?? mimeType),
  };
}

/** Throws 404 if there is no such mail, or if it has no HTML part. */
export async function readMailHtml(folder: string, name: string): Promise<string> {
  const found = await findMail(folder, name);
  return found?.email.html ?? unknown();
}

function unknown(): never {
  throw problems.not_found();
}

function spell({ name, address, group }: Address): string {
  if (group !== undefined) return group.map(spell).join(', ');
  return name ? `${name} <${address}>` : (address ?? '');
}

async function findMail(folder: string, name: string) {
  const file = await open(join(folder, name)).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { size, mtime } = await file.stat();
    if (size > largestMailBytes) return undefined;
    const { default: PostalMime } = await import('postal-mime');
    const email = await PostalMime.parse(await file.readFile());
    const { subject = '', from, to = [], date } = email;
    const sentAt = new Date(date ?? '');
    const head = {
      name,
      subject,
      from: from === undefined ? '' : spell(from),
      to: to.map(spell),
      sentAt: (Number.isNaN(sentAt.getTime()) ? mtime : sentAt).toISOString(),
    };
    return { head, email };
  } finally {
    await file.close();
  }
}

/** Mail is untrusted content, so it may neither run scripts nor load anything. */
export const mailPolicy =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";
