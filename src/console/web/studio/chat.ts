/** One conversation: its messages, and what can be done with them. */
import { useChat } from '@ai-sdk/react';
import type { UIMessage } from 'ai';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { CurrentTask, TaskRequest } from '../../../client/agent/api.ts';
import { agentCalls } from '../../../client/agent/calls.ts';
import { AtelierError, ThreadBusy } from '../../../client/errors.ts';
import { startWithRetries } from '../../../client/tasks.ts';
import { AgentChatTransport } from '../../../client/transport.ts';
import { isSignedOut, observe } from '../calls.ts';
import type { User } from '../user.tsx';
import type { Attachment } from './attachments.ts';
import { textOfMessage } from './message.tsx';
import type { Outcome } from './outcome.tsx';

/** A message that is sent to the model after the answer in progress. */
export type QueuedMessage = NonNullable<CurrentTask['queued']>[number];

export type ThreadState = Awaited<ReturnType<typeof readThread>>;

/** While a run is active, its answer comes from the stream from the beginning, so the stored part is omitted. */
export async function readThread(user: User, threadId: string) {
  const id = encodeURIComponent(threadId);
  const readTask = () => user.json<CurrentTask>('agent', `/thread/${id}/current-task?failed=true`);
  const before = await readTask();
  const { messages } = await user.json<{ readonly messages: UIMessage[] }>('agent', `/messages/${id}`);
  const lastQuestion = messages.findLastIndex(({ role }) => role === 'user');
  // The run of a question without an answer may have started between the two requests.
  const isNew = before.task === null && lastQuestion >= 0 && lastQuestion === messages.length - 1;
  const { task, queued = [], temporary: isTemporary = false, failed } = isNew ? await readTask() : before;
  const isRunning = task !== null;
  return {
    messages: isRunning ? messages.slice(0, lastQuestion + 1) : messages,
    isRunning,
    queued,
    isTemporary,
    failed,
  };
}

/** What the user has sent, until the service has accepted it. */
export type Sent =
  | { readonly kind: 'message'; readonly id: string; readonly text: string; readonly files: readonly Attachment[] }
  | { readonly kind: 'edit'; readonly id: string; readonly text: string }
  | { readonly kind: 'again' };

/** Did the thread take it? */
function isAccepted(sent: Sent, messages: readonly UIMessage[]): boolean {
  if (sent.kind === 'again') return true;
  const message = messages.find(({ id }) => id === sent.id);
  return message !== undefined && textOfMessage(message) === sent.text;
}

export interface Rereading {
  /** Reads the thread again. */
  readonly reread: () => Promise<ThreadState | undefined>;
  /** What is being read is out of date. */
  readonly forget: () => void;
}

export function useConversation(
  user: User,
  threadId: string,
  stored: ThreadState,
  { reread, forget }: Rereading,
  onRefused: (sent: Sent) => void,
) {
  const [isReconnecting, setReconnecting] = useState(false);
  const [outcome, setOutcome] = useState<Outcome>();
  const transport = useMemo(() => {
    const report = (url: string, status: number) => {
      // The start of a run, and its stream.
      if (/\/(?:stream\/[^/]+|task)$/.test(url)) setReconnecting(status === 0 || status >= 500);
    };
    return new AgentChatTransport(observe(user.agent, report));
  }, [user]);
  const sent = useRef<Sent>({ kind: 'again' });
  const isStopped = useRef(false);
  /** Counts what the user has sent. What was read before that is out of date. */
  const turn = useRef(0);
  const refused = useRef(onRefused);
  refused.current = onRefused;

  const chat = useChat({
    id: threadId,
    messages: stored.messages,
    transport,
    // Deltas arrive faster than they can be read.
    throttle: 50,
    onError: (error) => void explain(error),
    onFinish: ({ isError, isAbort }) => {
      setReconnecting(false);
      if (isError) return;
      setOutcome({ kind: isAbort || isStopped.current ? 'stopped' : 'completed' });
      void refresh();
    },
  });
  const { messages, setMessages, sendMessage, regenerate, resumeStream, stop, clearError, status } = chat;
  const { addToolApprovalResponse } = chat;
  const isAnswering = status === 'submitted' || status === 'streaming';
  const isIdle = useRef(true);
  isIdle.current = !isAnswering;

  /** The stored messages are authoritative, also if another tab has changed them. */
  const show = useCallback(
    (state: ThreadState) => {
      if (!isIdle.current) return;
      setMessages(state.messages);
      if (!state.isRunning) return;
      isStopped.current = false;
      setOutcome(undefined);
      void resumeStream();
    },
    [setMessages, resumeStream],
  );
  useEffect(() => show(stored), [show, stored]);

  async function refresh(): Promise<ThreadState | undefined> {
    const requestedTurn = turn.current;
    const state = await reread();
    if (state !== undefined && turn.current === requestedTurn) show(state);
    return state;
  }

  async function explain(error: Error): Promise<void> {
    setReconnecting(false);
    const requestedTurn = turn.current;
    const state = await reread();
    if (turn.current !== requestedTurn) return;
    const request = sent.current;
    const accepted = state !== undefined && isAccepted(request, state.messages);
    const isOfStream = !(error instanceof AtelierError);
    if (accepted && state.isRunning) setOutcome({ kind: 'lost' });
    else if (isOfStream || (accepted && request.kind !== 'again'))
      setOutcome({ kind: 'failed', message: error.message });
    else {
      const isLost = state === undefined && request.kind === 'again' && !isSignedOut(error);
      setOutcome(isLost ? { kind: 'lost' } : { kind: 'refused', error });
      refused.current(request);
      // A second error of the same request returns nothing again.
      sent.current = { kind: 'again' };
    }
    clearError();
    if (state !== undefined) setMessages(state.messages);
    else if (request.kind === 'message') {
      const { id } = request;
      setMessages((all) => all.filter((message) => message.id !== id));
    }
    // Another tab has started it.
    if (error instanceof ThreadBusy && state?.isRunning) void resumeStream();
  }

  function begin(next: Sent): void {
    sent.current = next;
    turn.current += 1;
    forget();
    isStopped.current = false;
    setOutcome(undefined);
    clearError();
  }

  return {
    messages,
    isAnswering,
    isWaiting: status === 'submitted',
    isReconnecting: isReconnecting && isAnswering,
    outcome,
    refresh,
    send(text: string, files: readonly Attachment[], choice: RunChoice): void {
      const id = crypto.randomUUID();
      begin({ kind: 'message', id, text, files });
      void sendMessage({ id, role: 'user', parts: partsOf(text, files) }, { body: choice });
    },
    /** During an answer: queues the message, or stops the answer for it. Rejects if the service does not accept it. */
    async sendWhileBusy({ text, files, whenBusy }: BusyMessage, choice: RunChoice): Promise<void> {
      const message = { id: crypto.randomUUID(), role: 'user', parts: partsOf(text, files) };
      await startWithRetries(user.agent, { threadId, message, whenBusy, ...choice });
      await refresh();
    },
    /** Removes a queued message. Rejects if it has been sent. */
    async unqueue({ taskId }: QueuedMessage): Promise<void> {
      await agentCalls(user.agent).stopTask(taskId);
      await reread();
    },
    /** Answers a tool call that waits for approval. The answer continues in the same message. */
    async approve(approvalId: string, approved: boolean): Promise<void> {
      begin({ kind: 'again' });
      await addToolApprovalResponse({ id: approvalId, approved });
      await sendMessage();
    },
    edit(message: UIMessage, text: string, choice: RunChoice): void {
      begin({ kind: 'edit', id: message.id, text });
      const files = message.parts.filter((part) => part.type === 'file');
      void sendMessage({ messageId: message.id, parts: [...files, { type: 'text', text }] }, { body: choice });
    },
    answerAgain(message: UIMessage | undefined, choice: RunChoice): void {
      begin({ kind: 'again' });
      void regenerate({ ...(message && { messageId: message.id }), body: choice });
    },
    /** The run and its stream end. The text so far stays. */
    async stopAnswer(): Promise<void> {
      const agent = agentCalls(user.agent);
      const { task } = await agent.readCurrentTask(threadId);
      isStopped.current = true;
      if (task === null) await stop();
      else await agent.stopTask(task.taskId);
    },
  };
}

/** What the user has chosen for the next answers. */
export type RunChoice = Pick<TaskRequest, 'model' | 'media' | 'memory' | 'temporary'>;

export interface BusyMessage {
  readonly text: string;
  readonly files: readonly Attachment[];
  readonly whenBusy: 'queue' | 'interrupt';
}

const partsOf = (text: string, files: readonly Attachment[]) => [
  ...files.flatMap(filePartOf),
  ...(text === '' ? [] : [{ type: 'text' as const, text }]),
];

const filePartOf = ({ assetId, mime, name }: Attachment) =>
  assetId === undefined ? [] : [{ type: 'file' as const, mediaType: mime, filename: name, url: `asset:${assetId}` }];
