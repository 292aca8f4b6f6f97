/** Chats of the AI SDK with its default transport and nothing of ours, in the oldest and the newest supported version. */
import { AbstractChat, DefaultChatTransport, type FileUIPart, type UIMessage } from 'ai';
import * as v5 from 'ai5';
import type { Chatter } from './rig.fixture.ts';

type File = Pick<FileUIPart, 'type' | 'mediaType' | 'url'> & { filename?: string };

export interface StockChat {
  readonly messages: readonly Pick<UIMessage, 'id' | 'role' | 'parts' | 'metadata'>[];
  readonly status: string;
  readonly error: Error | undefined;
  sendMessage(message: { text: string; files?: File[]; messageId?: string }): Promise<void>;
  regenerate(options?: { messageId?: string }): Promise<void>;
  resumeStream(): Promise<void>;
  stop(): Promise<void>;
}

/** The state that a framework's bindings keep, such as those of React. */
class MemoryState<Message> {
  status: 'submitted' | 'streaming' | 'ready' | 'error' = 'ready';
  error: Error | undefined = undefined;
  messages: Message[];

  constructor(messages: readonly Message[]) {
    this.messages = [...messages];
  }

  pushMessage = (message: Message): void => {
    this.messages = [...this.messages, message];
  };
  popMessage = (): void => {
    this.messages = this.messages.slice(0, -1);
  };
  replaceMessage = (index: number, message: Message): void => {
    this.messages = this.messages.with(index, message);
  };
  snapshot = <Thing>(thing: Thing): Thing => structuredClone(thing);
}

class NewestChat extends AbstractChat<UIMessage> {}
class OldestChat extends v5.AbstractChat<v5.UIMessage> {}

/** As a page opens a thread: with the messages that it has read. */
export type OpenChat = (url: string, chatter: Chatter, id: string, messages?: readonly unknown[]) => StockChat;

export const stockChats: readonly { readonly version: string; readonly open: OpenChat }[] = [
  {
    version: '5',
    open: (url, { credential }, id, messages = []) => {
      const transport = new v5.DefaultChatTransport({ api: `${url}/chat`, headers: credential });
      return new OldestChat({ id, transport, state: new MemoryState(messages as readonly v5.UIMessage[]) });
    },
  },
  {
    version: '7',
    open: (url, { credential }, id, messages = []) => {
      const transport = new DefaultChatTransport({ api: `${url}/chat`, headers: credential });
      return new NewestChat({ id, transport, state: new MemoryState(messages as readonly UIMessage[]) });
    },
  },
];
