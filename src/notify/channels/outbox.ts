/** The stand-in for an email provider: writes each mail to the file `outbox/<id>.eml` in the data folder. */
import { constants } from 'node:fs';
import { access, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { writeWhole } from '#platform/files.ts';
import { addressOf } from '../mail.ts';
import type { Channel } from './channel.ts';
import { messageOf } from './message.ts';

export async function openOutbox(dataDir: string): Promise<Channel> {
  const folder = join(dataDir, 'outbox');
  await mkdir(folder, { recursive: true });
  await removeAbandonedDrafts(folder);
  let opened: ReturnType<typeof openTransport> | undefined;
  return {
    async send(mail, { id }) {
      opened ??= openTransport();
      const { message } = await (await opened).sendMail(messageOf(mail, id));
      // Another attempt writes the same file.
      await writeWhole(join(folder, `${id}.eml`), message as Buffer);
      return id;
    },
    forget: (address) => removeMailsTo(folder, address),
    check: () => access(folder, constants.W_OK),
    close: async () => (await opened)?.close(),
  };
}

/** No mail takes this long to write. Another process may be writing one. */
const abandonedAfterMs = 60_000;

/** Removes what a killed process has left: each draft has a whole mail. */
async function removeAbandonedDrafts(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!/^\..+\.eml\.[0-9a-f-]{36}$/.test(name)) continue;
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && found.mtimeMs < Date.now() - abandonedAfterMs) await rm(path, { force: true });
  }
}

/** Removes the files whose header names the address. A mail that is being written is named with a dot. */
async function removeMailsTo(folder: string, address: string): Promise<number> {
  let removed = 0;
  for (const name of await readdir(folder)) {
    const text = await readFile(join(folder, name), 'utf8').catch(() => '');
    const header = text.slice(0, text.indexOf('\r\n\r\n') + 1 || text.length);
    // Whole words only: the address can be the end of another person's.
    if (!header.split(/[\s<>(),;:"]+/).some((word) => addressOf(word) === address)) continue;
    await rm(join(folder, name), { force: true });
    removed += 1;
  }
  return removed;
}

/** Loaded with the first mail, because most processes send none. */
async function openTransport() {
  const { createTransport } = await import('nodemailer');
  return createTransport({ streamTransport: true, buffer: true, disableFileAccess: true, disableUrlAccess: true });
}
