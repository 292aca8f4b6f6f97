/**
 * Conversations with the agent: a list of threads that follows the events of the user, and a chat over the default transport of
 * the AI SDK.
 *
 *     npm start                                   # in the repository, in another terminal
 *     npm run build:client && npm install --prefix examples/threads && npm run --prefix examples/threads dev
 */
import { useChat } from '@ai-sdk/react';
import { AtelierError, createAtelier, createSession, type Thread as ThreadInfo } from '@atelier/client';
import { DefaultChatTransport, type UIMessage } from 'ai';
import { type FormEvent, useCallback, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';

const at = (name: string, port: number): string => import.meta.env[`VITE_${name}_URL`] ?? `http://localhost:${port}`;

const session = createSession({ url: at('AUTH', 4003) });
const { agent } = createAtelier({
  urls: { agent: at('AGENT', 4004) },
  credential: { accessToken: session.accessToken },
});
const transport = new DefaultChatTransport({
  api: `${at('AGENT', 4004)}/chat`,
  headers: async () => ({ authorization: `Bearer ${await session.accessToken()}` }),
});

function Page() {
  const [threads, setThreads] = useState<readonly ThreadInfo[]>();
  const [isSignedOut, setSignedOut] = useState(false);
  const [threadId, setThreadId] = useState(newId);

  const refresh = useCallback(async () => {
    try {
      setThreads((await agent.listThreads({ limit: 50 })).threads);
    } catch (error) {
      if (!(error instanceof AtelierError && error.status === 401)) throw error;
      setSignedOut(true);
    }
  }, []);
  useEffect(() => {
    void refresh();
    const leaving = new AbortController();
    void listen(leaving.signal, refresh);
    return () => leaving.abort();
  }, [refresh]);

  if (isSignedOut) return <a href={session.loginUrl(location.href)}>Sign in</a>;
  return (
    <>
      <nav aria-label="Threads">
        <button type="button" onClick={() => setThreadId(newId())}>
          New thread
        </button>
        <ul>
          {threads?.map((thread) => (
            <li key={thread.threadId}>
              <button type="button" onClick={() => setThreadId(thread.threadId)}>
                {thread.title}
                {thread.runningTaskId !== null && ' …'}
              </button>
              <button type="button" aria-label={`Rename ${thread.title}`} onClick={() => void rename(thread)}>
                ✎
              </button>
              <button
                type="button"
                aria-label={`Delete ${thread.title}`}
                onClick={() => void agent.deleteThread(thread.threadId)}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      </nav>
      <Thread key={threadId} threadId={threadId} />
    </>
  );
}

/** Every change of a thread, in this tab, in another one or on the server, refreshes the list. */
async function listen(signal: AbortSignal, refresh: () => Promise<void>): Promise<void> {
  try {
    for await (const { type } of agent.events({ signal })) {
      if (type.startsWith('thread.') || type.startsWith('run.')) await refresh();
    }
  } catch (error) {
    if (!signal.aborted && !(error instanceof AtelierError && error.status === 401)) throw error;
  }
}

async function rename({ threadId, title: old }: ThreadInfo): Promise<void> {
  const title = prompt('Title', old);
  if (title) await agent.renameThread(threadId, { title });
}

function Thread({ threadId }: { readonly threadId: string }) {
  const [stored, setStored] = useState<UIMessage[]>();
  useEffect(() => {
    void agent.readMessages(threadId).then(({ messages }) => setStored(messages as readonly unknown[] as UIMessage[]));
  }, [threadId]);
  return stored === undefined ? <p>Loading …</p> : <Conversation threadId={threadId} stored={stored} />;
}

function Conversation({ threadId, stored }: { readonly threadId: string; readonly stored: UIMessage[] }) {
  const chat = useChat({ id: threadId, messages: stored, transport, resume: true });
  const isBusy = chat.status === 'submitted' || chat.status === 'streaming';

  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    void chat.sendMessage({ text: String(new FormData(event.currentTarget).get('text')) });
    event.currentTarget.reset();
  };
  /** `stop` only cuts the connection, so the run is stopped as well. */
  const stop = async () => {
    const { taskId } = (chat.messages.at(-1)?.metadata ?? {}) as { readonly taskId?: string };
    if (taskId !== undefined) await agent.stopTask(taskId);
    await chat.stop();
  };

  return (
    <section aria-label="Conversation">
      {chat.messages.map(({ id, role, parts }) => (
        <article key={id} className={role} aria-label={role}>
          <p>{parts.map((part) => (part.type === 'text' ? part.text : '')).join('')}</p>
        </article>
      ))}
      {chat.error && <p role="alert">{chat.error.message}</p>}
      <form onSubmit={send}>
        <input name="text" aria-label="Message" required />
        {isBusy ? (
          <button type="button" onClick={() => void stop()}>
            Stop
          </button>
        ) : (
          <>
            <button type="submit">Send</button>
            {chat.messages.length > 0 && (
              <button type="button" onClick={() => void chat.regenerate()}>
                Again
              </button>
            )}
          </>
        )}
      </form>
    </section>
  );
}

function newId(): string {
  return crypto.randomUUID();
}

const page = document.getElementById('page');
if (page !== null) createRoot(page).render(<Page />);
