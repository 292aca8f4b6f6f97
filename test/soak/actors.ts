/**
 * Simulated users while engines fail. Each repeats its work, records what was acknowledged, and at the end verifies that all of it
 * exists.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { followRun } from '../../src/client/run.ts';
import { type Answer, type Book, type Caller, Over } from './calls.ts';

export interface Actor {
  /** One round of work. */
  act(): Promise<void>;
  /** Called when all engines are healthy and nothing is in progress. Reports missing data to the book. */
  verify(): Promise<void>;
}

export interface Stage {
  readonly book: Book;
  /** Calls as one user. */
  readonly user: Caller;
  /** Calls as another server. */
  readonly server: Caller;
  readonly userId: string;
  readonly token: () => string;
  readonly isOver: () => boolean;
  /** When Redis was last emptied, as a value of `performance.now()`. */
  readonly redisEmptiedAtMs: () => number;
}

/** Returns a different image each time. */
const noise = (): Promise<Buffer> =>
  sharp(randomBytes(96 * 96 * 3), { raw: { width: 96, height: 96, channels: 3 } })
    .jpeg()
    .toBuffer();

interface StoredImage {
  readonly assetId: string;
  readonly sha256: string;
}

/** Uploads, reads and deletes. Repeatedly tries to add a prohibited image. */
export function uploader({ book, user, isOver }: Stage, prohibited: Buffer): Actor {
  const scope = { scopeKind: 'thread', scopeId: 'soak', kind: 'image', mime: 'image/jpeg' };
  const live: StoredImage[] = [];
  const gone = new Map<string, string>();
  const refused: string[] = [];

  async function upload(bytes: Buffer): Promise<Answer & { readonly assetId: string }> {
    const assetId = randomUUID();
    for (;;) {
      const { body } = await user.persist('media', 'POST', '/v1/uploads', { assetId, ...scope });
      const put = await fetch(String(body.uploadUrl), {
        method: 'PUT',
        headers: body.headers as Record<string, string>,
        body: new Uint8Array(bytes),
        signal: AbortSignal.timeout(20_000),
      }).catch(() => undefined);
      // 412: an earlier attempt arrived.
      if (put?.ok || put?.status === 412) break;
      // 403: the clock of the process that signed the URL was behind, so the URL has expired.
      if (put !== undefined && put.status < 500 && put.status !== 403) book.breach(`PUT returned ${put.status}`);
      if (isOver()) throw new Over();
      await sleep(300);
    }
    return { ...(await user.persist('media', 'POST', '/v1/assets', { assetId, ...scope })), assetId };
  }

  /** The signed URL, or undefined without a response. An image that has no URL or no bytes is reported. */
  async function readBytes(asset: StoredImage, call = user.once): Promise<string | undefined> {
    const answer = await call('media', 'POST', '/v1/sign/image', { refs: [asset.assetId] });
    if (answer?.status !== 200) return undefined;
    const signed = answer.body[asset.assetId] as { ready: boolean; url: string };
    if (!signed.ready) {
      book.breach(`a registered image was not found: ${asset.assetId}`);
      return undefined;
    }
    const bytes = await fetch(signed.url, { signal: AbortSignal.timeout(20_000) })
      .then(async (response) => (response.ok ? Buffer.from(await response.arrayBuffer()) : response.status))
      .catch(() => undefined);
    if (bytes === 404) book.breach(`a registered image has no bytes: ${asset.assetId}`);
    if (Buffer.isBuffer(bytes) && sha256(bytes) !== asset.sha256) book.breach(`changed bytes: ${asset.assetId}`);
    return signed.url;
  }

  async function remove(asset: StoredImage): Promise<void> {
    const url = await readBytes(asset);
    live.splice(live.indexOf(asset), 1);
    const { status } = await user.persist('media', 'DELETE', '/v1/assets', { ids: [asset.assetId] });
    if (status !== 200) return book.breach(`a deletion returned ${status}`);
    gone.set(asset.assetId, url ?? '');
    await expectGone(asset.assetId);
  }

  async function expectGone(assetId: string): Promise<void> {
    const answer = await user.once('media', 'POST', '/v1/sign/image', { refs: [assetId] });
    if (answer?.status !== 200) return;
    const signed = answer.body[assetId] as { ready: boolean };
    if (signed.ready) book.breach(`a deleted or rejected asset can be signed: ${assetId}`);
    else book.count('deleted, as expected');
  }

  return {
    async act() {
      const bytes = await noise();
      const { status, assetId } = await upload(bytes);
      if (status === 201 || status === 200) live.push({ assetId, sha256: sha256(bytes) });
      else book.breach(`a valid image returned ${status}`);
      const some = live[Math.floor(Math.random() * live.length)];
      if (some) await readBytes(some);
      if (some && Math.random() < 0.2) await remove(some);
      if (Math.random() < 0.2) {
        const bad = await upload(prohibited);
        refused.push(bad.assetId);
        // An earlier attempt removed the image, but its response was lost.
        const isGone = bad.status === 409 && bad.body.error === 'object_not_found';
        if (bad.status !== 451 && !isGone) book.breach(`a prohibited image returned ${bad.status}`);
        await expectGone(bad.assetId);
      }
    },
    async verify() {
      for (const asset of live)
        if ((await readBytes(asset, user.persist)) === undefined) book.breach(`missing: ${asset.assetId}`);
      for (const assetId of [...gone.keys(), ...refused]) await expectGone(assetId);
      for (const url of gone.values()) {
        if (url === '') continue;
        const { status } = await fetch(url);
        if (status !== 404) book.breach(`the bytes of a deleted image returned ${status}`);
      }
      book.count(`verified: ${live.length} images, ${gone.size} deleted, ${refused.length} rejected`);
    },
  };
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** Chats with the agent and reads to the end despite interruptions. */
export function chatter({ book, user, token, isOver, redisEmptiedAtMs }: Stage): Actor {
  const turns: { readonly threadId: string; readonly shown: string; readonly isLostTwice: boolean }[] = [];
  const texts = ['/long 2000', 'Tell me something', 'Make an image of a boat'];

  async function read(taskId: string): Promise<string> {
    // Each reconnection may reach the other process.
    const access = {
      get url() {
        return user.url('agent');
      },
      credential: { accessToken: token },
      patience: { tries: 400, longestPauseMs: 500 },
    };
    let shown = '';
    let stepAt = 0;
    for await (const chunk of followRun(access, taskId)) {
      if (chunk.type === 'start-step') stepAt = shown.length;
      // Another process repeats this step, so its text is void (docs/client.md).
      if (chunk.type === 'data-restarted') shown = shown.slice(0, stepAt);
      if (chunk.type === 'text-delta') shown += chunk.delta;
    }
    return shown;
  }

  return {
    async act() {
      const threadId = `t-${randomUUID()}`;
      const text = texts[turns.length % texts.length];
      const startedAtMs = performance.now();
      const answer = await user.persist('agent', 'POST', '/task', { threadId, text });
      // 409: an earlier attempt arrived, but its response was lost.
      if (answer.status !== 201 && answer.status !== 409) return book.breach(`a run returned ${answer.status}`);
      const shown = await read(String(answer.body.taskId)).catch((error: Error) => {
        if (isOver()) throw new Over();
        book.breach(`a stream did not end: ${error.name} ${error.message}`);
        return '';
      });
      const { body } = await user.persist('agent', 'GET', `/task/${answer.body.taskId}`);
      const isOfDeadProcess = body.status === 'failed' && String(body.error).includes('stopped unexpectedly');
      turns.push({ threadId, shown, isLostTwice: isOfDeadProcess && redisEmptiedAtMs() > startedAtMs });
      book.count(`run ${body.status}`);
      if (body.status === 'running')
        book.breach(`a run whose stream has ended is still running: ${answer.body.taskId}`);
    },
    async verify() {
      for (const { threadId, shown, isLostTwice } of turns) {
        const { body: current } = await user.persist('agent', 'GET', `/thread/${threadId}/current-task`);
        if (current.task !== null) book.breach(`a thread is stuck: ${threadId}`);
        const { body } = await user.persist('agent', 'GET', `/messages/${threadId}`);
        if (textOf(body.messages).includes(shown)) continue;
        // The process with the run died, and Redis lost it before another process took it over (docs/agent.md).
        if (isLostTwice) book.count('streamed output is lost with both its process and Redis');
        else book.breach(`streamed output is not in the messages: ${threadId}`);
      }
      book.count(`verified: ${turns.length} runs`);
    },
  };
}

function textOf(messages: unknown): string {
  const answers = (messages as { role: string; parts: { type: string; text?: string }[] }[]).filter(
    ({ role }) => role === 'assistant',
  );
  return answers.flatMap(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : ''))).join('');
}

/** A user may have 10,000 memories. */
const maxFacts = 5000;

/** Stores one distinct fact after another. Deletes the oldest if there are many. */
export function rememberer({ book, user, userId }: Stage, admin: Caller): Actor {
  const facts = new Map<string, string>();
  const deleted: string[] = [];
  return {
    async act() {
      const content = `The code word of ${randomUUID()} is ${randomBytes(6).toString('hex')}`;
      const fact = { entity_id: userId, entity_type: 'user', type: 'episodic', content };
      const { status, body } = await user.persist('memory', 'POST', '/memory/add', fact);
      if (status !== 201 && status !== 200) return book.breach(`a memory returned ${status}`);
      facts.set(String(body.id), content);
      await user.once('memory', 'POST', '/inject', { entity_id: userId, entity_type: 'user', query: content });
      const [oldest] = facts.size > maxFacts ? facts.keys() : [];
      if (oldest === undefined) return;
      facts.delete(oldest);
      deleted.push(oldest);
      const { status: removal } = await user.persist('memory', 'DELETE', `/memory/${oldest}`);
      // 404: an earlier attempt arrived, but its response was lost.
      if (removal !== 204 && removal !== 404) book.breach(`the deletion of a memory returned ${removal}`);
    },
    async verify() {
      for (const id of deleted) {
        const { status } = await admin.persist('memory', 'GET', `/admin/memories/${id}`);
        if (status !== 404) book.breach(`a deleted memory returned ${status}`);
      }
      for (const [id, content] of facts) {
        const { status, body } = await admin.persist('memory', 'GET', `/admin/memories/${id}`);
        if (status !== 200 || body.content !== content) book.breach(`a memory is missing: ${id} ${status}`);
      }
      book.count(`verified: ${facts.size} memories, ${deleted.length} deleted`);
    },
  };
}

/** Sends mail and repeats each with its key until it is acknowledged. */
export function mailer({ book, server }: Stage, outbox: string): Actor {
  const sent = new Map<string, string>();
  const tried = new Set<string>();
  return {
    async act() {
      const subject = `soak-${randomUUID()}`;
      tried.add(subject);
      const mail = { from: 'a@example.com', to: 'b@example.com', subject, text: 'Hello' };
      const { status, body } = await server.persist('notify', 'POST', '/emails', mail, { 'idempotency-key': subject });
      if (status !== 200) return book.breach(`a mail returned ${status}`);
      sent.set(subject, String(body.id));
    },
    async verify() {
      // Searching a list of so many names would block this process, which also runs the proxies.
      const files = new Set(await readdir(outbox));
      const copies = new Map<string, number>();
      for (const name of files) {
        if (!name.endsWith('.eml')) continue;
        const subject = /^Subject: (\S+)/m.exec(await readFile(join(outbox, name), 'utf8'))?.[1] ?? '';
        copies.set(subject, (copies.get(subject) ?? 0) + 1);
      }
      for (const [subject, id] of sent)
        if (!files.has(`${id}.eml`)) book.breach(`an acknowledged mail is missing: ${subject}`);
      for (const subject of tried)
        if ((copies.get(subject) ?? 0) > 1) book.breach(`a mail was sent ${copies.get(subject)} times: ${subject}`);
      book.count(`verified: ${sent.size} mails`);
    },
  };
}

/** Keeps a session alive as a browser does: it always sends the newest cookie. Long soaks outlive an access token. */
export function sessionHolder(
  { book, user }: Stage,
  firstCookie: string,
  origin: string,
  onToken: (accessToken: string) => void,
): Actor {
  let cookie = firstCookie;
  let refreshes = 0;
  async function refresh(): Promise<number | undefined> {
    const headers = { origin, cookie: `ka_session=${cookie}`, authorization: '' };
    const answer = await user.once('auth', 'POST', '/refresh', undefined, headers);
    const line = answer?.headers.getSetCookie().find((field) => field.startsWith('ka_session='));
    if (answer?.status === 200) {
      cookie = /^ka_session=([^;]+)/.exec(line ?? '')?.[1] ?? cookie;
      onToken(String(answer.body.access_token));
      refreshes += 1;
    } else if (answer !== undefined && (answer.status < 500 || line !== undefined))
      book.breach(`a session was lost: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer?.status;
  }
  return {
    async act() {
      await refresh();
      await sleep(500 + Math.random() * 1000);
    },
    async verify() {
      if ((await refresh()) !== 200) book.breach('a session cannot be refreshed at the end');
      book.count(`verified: a session of ${refreshes} refreshes`);
    },
  };
}
