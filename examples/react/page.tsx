/**
 * A chat with the agent about the user's own images: sign-in, upload with progress, streams that survive a reload.
 *
 *     npm start                                   # in the repository, in another terminal
 *     npm run build:client && npm install --prefix examples/react && npm run --prefix examples/react dev
 *
 * Needs Node 22, because of `ai` 7. On Node 20, npm warns, and the page works.
 */
import { useChat } from '@ai-sdk/react';
import { AtelierError, createAtelier, createSession, createUpload } from '@atelier/client';
import { AgentChatTransport, type AtelierUIMessage, assetPart, mediaOf } from '@atelier/client/chat';
import { type FormEvent, StrictMode, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';

const at = (name: string, port: number): string => import.meta.env[`VITE_${name}_URL`] ?? `http://localhost:${port}`;

const session = createSession({ url: at('AUTH', 4003) });
const credential = { accessToken: session.accessToken };
const atelier = createAtelier({ urls: { media: at('MEDIA', 4001) }, credential });
const transport = new AgentChatTransport<AtelierUIMessage>({ url: at('AGENT', 4004), credential });

/** The thread is part of the URL, so that a reload finds it. */
const threadId = location.hash.slice(1) || crypto.randomUUID();

type Stage = { readonly messages: AtelierUIMessage[] } | 'loading' | 'signed out';

function Page() {
  const [stage, setStage] = useState<Stage>('loading');
  useEffect(() => {
    transport.readMessages(threadId).then(
      (messages) => setStage({ messages }),
      (error: unknown) => {
        if (!(error instanceof AtelierError && error.status === 401)) throw error;
        setStage('signed out');
      },
    );
  }, []);
  if (stage === 'loading') return <p>One moment …</p>;
  if (stage === 'signed out') return <a href={session.loginUrl(location.href)}>Sign in</a>;
  return <Conversation stored={stage.messages} />;
}

function Conversation({ stored }: { readonly stored: AtelierUIMessage[] }) {
  const chat = useChat({ id: threadId, messages: stored, transport, resume: true });
  const [files, setFiles] = useState<ReturnType<typeof assetPart>[]>([]);
  const [progress, setProgress] = useState<number>();
  const isBusy = chat.status === 'submitted' || chat.status === 'streaming';

  const attach = async (file: File) => {
    const upload = createUpload(atelier.media, file, { scopeKind: 'thread', scopeId: threadId, kind: 'image' });
    const asset = await upload.run({
      onProgress: ({ sentBytes, totalBytes }) => setProgress(sentBytes / totalBytes),
    });
    setFiles([assetPart(asset, URL.createObjectURL(file), file.name)]);
  };

  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    void chat.sendMessage({ text: String(new FormData(form).get('text')), files });
    form.reset();
    setFiles([]);
    setProgress(undefined);
  };

  return (
    <>
      {chat.messages.map(({ id, role, parts }) => (
        <article key={id} className={role} aria-label={role}>
          {parts.map((part, index) => {
            const key = `${id}-${index}`;
            if (part.type === 'text') return <p key={key}>{part.text}</p>;
            const media = mediaOf(part);
            if (media?.kind !== 'image' || media.url === null) return null;
            const alt = part.type === 'file' ? (part.filename ?? 'Sent') : 'Made by the agent';
            return <img key={key} src={media.thumbUrl ?? media.url} alt={alt} width="400" />;
          })}
        </article>
      ))}
      {chat.error && <p role="alert">{chat.error.message}</p>}
      <form onSubmit={send}>
        <input name="text" aria-label="Message" required />
        <input
          type="file"
          aria-label="Image"
          accept="image/*"
          onChange={({ target }) => target.files?.[0] && void attach(target.files[0])}
        />
        {progress !== undefined && <progress value={progress} />}
        {isBusy ? (
          <button type="button" onClick={chat.stop}>
            Stop
          </button>
        ) : (
          <button type="submit" disabled={progress !== undefined && files.length === 0}>
            Send
          </button>
        )}
      </form>
    </>
  );
}

location.hash = threadId;
const page = document.getElementById('page');
if (page !== null) {
  createRoot(page).render(
    <StrictMode>
      <Page />
    </StrictMode>,
  );
}
