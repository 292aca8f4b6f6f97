/** One conversation of a user, as an application leads it. */
import { expect } from 'vitest';
import { upload } from '../media/rig.fixture.ts';
import type { ReceivedRequest } from './provider.fixture.ts';
import { type AgentRig, type Chatter, type Message, newThread } from './rig.fixture.ts';

export interface Turn {
  readonly status: string;
  readonly error: string | null;
  readonly question: Message;
  readonly answer: Message | undefined;
  /** The requests for texts that the provider got for it. */
  readonly asked: readonly ReceivedRequest[];
}

export class Conversation {
  readonly threadId = newThread();
  readonly #rig: AgentRig;
  readonly #user: Chatter;
  readonly #asked: readonly ReceivedRequest[];

  constructor(rig: AgentRig, user: Chatter, asked: readonly ReceivedRequest[]) {
    this.#rig = rig;
    this.#user = user;
    this.#asked = asked;
  }

  /** Puts an image into the user's library. Returns its asset id. */
  async addToLibrary(bytes: Uint8Array): Promise<string> {
    const client = this.#rig.media.client(this.#user.credential);
    const { registration, assetId } = await upload(client, bytes);
    expect((await client.register(registration)).status).toBe(201);
    return assetId;
  }

  messages(): Promise<readonly Message[]> {
    return this.#user.messages(this.threadId);
  }

  /** Sends a message, and waits for the end of its run. */
  async send(parts: readonly object[], more: { readonly rewindTo?: string } = {}): Promise<Turn> {
    const first = this.#asked.length;
    const body = { threadId: this.threadId, message: { role: 'user', parts }, ...more };
    const started = await this.#user.call<{ taskId: string }>('POST', '/task', body);
    expect([started.status, started.body]).toMatchObject([201, {}]);
    const { status, error } = await this.#user.ended(started.body.taskId);
    const messages = await this.messages();
    const question = messages.findLast(({ role }) => role === 'user');
    if (question === undefined) throw new Error('the question is not in the thread');
    const { taskId } = started.body;
    const answer = messages.find(({ role, metadata }) => role === 'assistant' && metadata.taskId === taskId);
    const asked = this.#asked.slice(first).filter(({ path }) => path.includes('/chat/completions'));
    return { status, error, question, answer, asked };
  }
}

export const text = (words: string) => ({ type: 'text', text: words });
export const attached = (assetId: string, mediaType = 'image/jpeg') => ({
  type: 'file',
  mediaType,
  url: `asset:${assetId}`,
});
/** As an application sends a message back that it has read. */
export const partsOf = ({ parts }: Message): readonly object[] => parts;
