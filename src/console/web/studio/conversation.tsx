import { useChat } from '@ai-sdk/react';
import { useQuery } from '@tanstack/react-query';
import type { UIMessage } from 'ai';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { CurrentTask } from '../../../client/agent/api.ts';
import { agentCalls } from '../../../client/agent/calls.ts';
import { AgentChatTransport } from '../../../client/transport.ts';
import { Empty, Failure, Loading } from '../parts/states.tsx';
import { type User, useUser } from '../user.tsx';
import { type Attached, Composer } from './composer.tsx';
import { isMedia } from './media.tsx';
import { Message } from './message.tsx';
import { rememberThread } from './threads.ts';

interface ThreadState {
  readonly messages: UIMessage[];
  readonly isRunning: boolean;
}

/** While a run is active, its answer comes from the stream from the beginning, so the stored part is omitted. */
async function readThread(user: User, threadId: string): Promise<ThreadState> {
  const id = encodeURIComponent(threadId);
  const { task } = await user.json<CurrentTask>('agent', `/thread/${id}/current-task`);
  const { messages } = await user.json<{ readonly messages: UIMessage[] }>('agent', `/messages/${id}`);
  const lastAsked = messages.findLastIndex(({ role }) => role === 'user');
  return { messages: task === null ? messages : messages.slice(0, lastAsked + 1), isRunning: task !== null };
}

/** The run and its stream end. The text so far stays. */
async function stopRun(user: User, threadId: string): Promise<void> {
  const agent = agentCalls(user.agent);
  const { task } = await agent.readCurrentTask(threadId);
  if (task !== null) await agent.stopTask(task.taskId);
}

export function Conversation({ threadId }: { readonly threadId: string }) {
  const user = useUser();
  const thread = useQuery({
    queryKey: ['thread', user.id, threadId],
    queryFn: () => readThread(user, threadId),
    staleTime: 0,
    gcTime: 0,
    // A video may be made after the answer.
    refetchInterval: ({ state: { data } }) => (data !== undefined && isMaking(data.messages) ? 3000 : false),
  });
  if (thread.data === undefined)
    return thread.error ? (
      <Failure error={thread.error} retry={thread.refetch} />
    ) : (
      <Loading what="Reading the conversation" />
    );
  return <Chat threadId={threadId} stored={thread.data} reread={thread.refetch} />;
}

function isMaking(messages: readonly UIMessage[]): boolean {
  return messages.some(({ parts }) =>
    parts.some((part) => {
      const value: unknown = 'output' in part ? part.output : 'data' in part ? part.data : undefined;
      return isMedia(value) && (value.status === 'queued' || value.status === 'processing');
    }),
  );
}

function Chat({
  threadId,
  stored,
  reread,
}: {
  readonly threadId: string;
  readonly stored: ThreadState;
  readonly reread: () => unknown;
}) {
  const user = useUser();
  const transport = useMemo(() => new AgentChatTransport(user.agent), [user]);
  const { messages, setMessages, sendMessage, status, error, clearError, resumeStream } = useChat({
    id: threadId,
    messages: stored.messages,
    transport,
    onFinish: () => reread(),
  });
  const [text, setText] = useState('');
  const [rewindTo, setRewindTo] = useState<string>();
  const [previews] = useState(() => new Map<string, string>());
  const isAnswering = status === 'submitted' || status === 'streaming';
  const isIdle = useRef(true);
  isIdle.current = !isAnswering;

  // The stored messages are authoritative, also if another tab has changed them. They are shown once nothing is running
  // here.
  useEffect(() => {
    if (!isIdle.current) return;
    setMessages(stored.messages);
    if (stored.isRunning) void resumeStream();
  }, [stored, setMessages, resumeStream]);

  function submit({ text: said, attached }: { readonly text: string; readonly attached: Attached | undefined }) {
    rememberThread(user.id, { id: threadId, title: said.slice(0, 60) || 'A picture' });
    const dropped = rewindTo === undefined ? -1 : messages.findIndex(({ id }) => id === rewindTo);
    if (dropped >= 0) setMessages(messages.slice(0, dropped));
    if (attached !== undefined) previews.set(attached.assetId, attached.preview);
    const file =
      attached === undefined
        ? []
        : [
            {
              type: 'file' as const,
              mediaType: attached.mime,
              filename: attached.name,
              url: `asset:${attached.assetId}`,
            },
          ];
    const parts = [...file, ...(said === '' ? [] : [{ type: 'text' as const, text: said }])];
    clearError();
    setRewindTo(undefined);
    void sendMessage({ parts }, dropped >= 0 ? { body: { rewindTo } } : {});
  }

  function rewind(message: UIMessage) {
    setRewindTo(message.id);
    setText(message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n'));
    document.querySelector<HTMLTextAreaElement>('.composer textarea')?.focus();
  }

  return (
    <div className="conversation">
      <Messages messages={messages} isAnswering={isAnswering}>
        {messages.map((message) => (
          <Message
            key={message.id}
            message={message}
            previews={previews}
            onRewind={isAnswering ? undefined : rewind}
            onRetried={() => reread()}
          />
        ))}
        {status === 'submitted' && <Loading what="Waiting for the answer" />}
        {error && (
          <Failure
            error={error}
            retry={() => {
              clearError();
              reread();
            }}
          />
        )}
      </Messages>
      <p className="unseen" role="status">
        {isAnswering ? 'The answer is coming.' : messages.length > 0 ? 'The answer is complete.' : ''}
      </p>
      <Composer
        threadId={threadId}
        text={text}
        setText={setText}
        isAnswering={isAnswering}
        rewindNote={rewindTo === undefined ? undefined : { cancel: () => setRewindTo(undefined) }}
        onSend={submit}
        onStop={() => stopRun(user, threadId)}
      />
    </div>
  );
}

/** Follows the answer, unless the reader has scrolled away from it. */
function Messages({
  messages,
  isAnswering,
  children,
}: {
  readonly messages: readonly UIMessage[];
  readonly isAnswering: boolean;
  readonly children: React.ReactNode;
}) {
  const end = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  useEffect(() => {
    if (messages.length > 0 && follows.current) end.current?.scrollIntoView({ block: 'end' });
  }, [messages]);
  return (
    <section
      className="messages"
      aria-label="Conversation"
      aria-busy={isAnswering}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        follows.current = scrollHeight - scrollTop - clientHeight < 64;
      }}
    >
      {messages.length === 0 && (
        <Empty title="A new conversation">
          <p>
            Try “an image of a lighthouse at dusk”, “a video of waves”, “remember that I like warm colours”, or attach a
            picture and ask for an edit.
          </p>
        </Empty>
      )}
      {children}
      <div ref={end} />
    </section>
  );
}
