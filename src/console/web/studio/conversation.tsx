import './waiting.css';
import { type UseMutationResult, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { UIMessage } from 'ai';
import {
  ArrowDown,
  Brain,
  Clapperboard,
  ImagePlus,
  MessageCircleDashed,
  Paperclip,
  Sparkles,
  Undo2,
  WifiOff,
} from 'lucide-react';
import { useCallback, useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { navigate } from 'wouter/use-browser-location';
import { agentCalls } from '#client/agent/calls.ts';
import { fromAmong } from '../library/actions.ts';
import { useNewest } from '../library/albums.ts';
import { nameOf } from '../library/assets.ts';
import { AttachContext } from '../library/mediaactions.tsx';
import { Thumb } from '../library/tile.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Seconds } from '../parts/elapsed.tsx';
import { countOf, plural } from '../parts/figures.tsx';
import { Button, IconButton } from '../parts/iconbutton.tsx';
import { Failure, Problem } from '../parts/states.tsx';
import { isTouch, useDroppedFiles, useIsOnline } from '../shell/browser.ts';
import { notify, notifyFailure } from '../shell/notices.ts';
import { Skeleton } from '../shell/skeleton.tsx';
import { useReread, useUser } from '../user.tsx';
import { useModelChoice } from './account.ts';
import { useAttachments } from './attachments.ts';
import {
  type BusyMessage,
  type QueuedMessage,
  type Rereading,
  readThread,
  type Sent,
  type ThreadState,
  useConversation,
} from './chat.ts';
import { Composer } from './composer.tsx';
import { ConversationContext, isInProgress, isMedia, type MediaOutput } from './media.tsx';
import { type Prices, useMediaChoice, usePrices } from './mediachoice.tsx';
import { Message, textOfMessage, type VersionsOf } from './message.tsx';
import { OutcomeNote, storedOutcome } from './outcome.tsx';
import { ThreadHead } from './threadhead.tsx';
import { clearDraft, newThreadId, readDraft, useThreadCalls, useThreads } from './threads.ts';
import words from './words.json' with { type: 'json' };

export function Conversation({ threadId }: { readonly threadId: string }) {
  const user = useUser();
  const queries = useQueryClient();
  const queryKey = ['thread', user.id, threadId];
  const thread = useQuery({
    queryKey,
    queryFn: () => readThread(user, threadId),
    staleTime: 0,
    gcTime: 0,
    // A video may be made after the answer, and a queued message is sent after it.
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && (isMaking(data) || (data.queued.length > 0 && !data.isRunning)) ? 3000 : false,
  });
  if (thread.data === undefined)
    return (
      <div className="conversation">
        {thread.error ? (
          <Failure error={thread.error} retry={thread.refetch} />
        ) : (
          <Skeleton label="Loading the conversation" />
        )}
      </div>
    );
  const rereading = {
    reread: async () => (await thread.refetch()).data,
    forget: () => void queries.cancelQueries({ queryKey }),
  };
  return <Chat threadId={threadId} stored={thread.data} rereading={rereading} />;
}

/** A run of the conversation was without memory. */
const isUnremembered = ({ metadata }: UIMessage): boolean => Reflect.get(Object(metadata), 'memory') === false;

const isMaking = ({ messages }: ThreadState): boolean => madeIn(messages).some(isInProgress);

const madeIn = (messages: readonly UIMessage[]) =>
  messages
    .flatMap(({ parts }) => parts)
    .map((part): unknown => ('output' in part ? part.output : 'data' in part ? part.data : undefined))
    .filter(isMedia);

const idsOf = ({ assetIds, assetId }: MediaOutput) => assetIds ?? (assetId === null ? [] : [assetId]);

interface ChatProps {
  readonly threadId: string;
  readonly stored: ThreadState;
  readonly rereading: Rereading;
}

function Chat({ threadId, stored, rereading }: ChatProps) {
  const user = useUser();
  const reread = useReread();
  const field = useRef<HTMLTextAreaElement>(null);
  const [prepared] = useState(() => readDraft(threadId)?.text ?? '');
  const keyOfText = (isNew: boolean) => `atelier.text.${user.id}.${isNew && prepared === '' ? 'new' : threadId}`;
  const [text, setText] = useState(() => sessionStorage.getItem(keyOfText(stored.messages.length === 0)) ?? prepared);
  const [edited, setEdited] = useState<Extract<Sent, { kind: 'edit' }>>();
  const [previews] = useState(() => new Map<string, string>());
  const attachments = useAttachments(threadId);
  const modelChoice = useModelChoice();
  const mediaChoice = useMediaChoice();
  const prices = usePrices(modelChoice, mediaChoice);
  const [isChosenTemporary, setTemporary] = useState(false);
  const isTemporary = isChosenTemporary || stored.isTemporary;
  const isForgotten = stored.messages.some(isUnremembered);
  const choice = {
    ...(modelChoice.chosen?.default === false && { model: modelChoice.chosen.id }),
    ...(mediaChoice.media && { media: mediaChoice.media }),
    ...(isForgotten && { memory: false }),
    ...(isTemporary && { temporary: true }),
  };
  const isOnline = useIsOnline();
  const isDragging = useDroppedFiles(attachments.add);

  const chat = useConversation(user, threadId, stored, rereading, (sent) => {
    // The balance may be the reason.
    void reread('credits');
    if (sent.kind === 'edit') setEdited(sent);
    if (sent.kind !== 'message') return;
    setText((now) => (now === '' ? sent.text : `${sent.text}\n${now}`));
    attachments.set([...sent.files, ...attachments.items]);
    field.current?.focus();
  });
  const { messages, isAnswering } = chat;
  const isBeginning = messages.length === 0 && !isAnswering;
  useStoredText(keyOfText(messages.length === 0), text);
  const { view, content, isFollowing, follow } = useFollowing(!isBeginning);
  const busySending = useMutation({
    mutationFn: (message: BusyMessage) => chat.sendWhileBusy(message, choice),
    // Until the service has the message, it stays in the composer, where it may have been changed.
    onSuccess: (_sent, { text: sent, files }) => {
      setText((now) => (now.trimStart().startsWith(sent) ? now.trimStart().slice(sent.length).trimStart() : now));
      attachments.set(attachments.items.filter(({ key }) => !files.some((file) => file.key === key)));
      clearDraft(threadId);
    },
  });
  const removing = useMutation({
    mutationFn: (queued: QueuedMessage) => chat.unqueue(queued),
    onSuccess: (_done, { message: { parts } }) => {
      const sent = textOfMessage({ parts } as Pick<UIMessage, 'parts'>);
      setText((now) => [sent, now].filter((each) => each !== '').join('\n'));
      attachments.addAssets(parts.flatMap(({ url }) => (typeof url === 'string' ? url.replace(/^asset:/, '') : [])));
      field.current?.focus();
    },
  });
  const versionsOf = useVersions(threadId, stored.messages, isAnswering, chat.refresh);
  const last = messages.at(-1);
  const isAsked = last?.parts.some((part) => 'state' in part && part.state === 'approval-requested');
  const { failed } = stored;
  // A run that ended before its first word has stored no message.
  const ofQuestion = failed ? ({ kind: 'failed', message: failed.error ?? '', credits: 0 } as const) : unanswered;
  const kept = last?.role === 'user' ? (stored.isRunning ? undefined : ofQuestion) : last && storedOutcome(last);
  // A stored failure also has what it cost.
  const outcome = chat.outcome?.kind === kept?.kind ? kept : (chat.outcome ?? kept);
  const edit = (message: UIMessage, next: string) => {
    setEdited(undefined);
    chat.edit(message, next, choice);
    follow();
  };
  const regenerate = (answer: UIMessage) => chat.answerAgain(answer, choice);
  const { addAssets } = attachments;
  useEffect(() => addAssets(readDraft(threadId)?.assetIds ?? []), [threadId, addAssets]);
  const wasOnline = useRef(isOnline);
  useEffect(() => {
    if (isOnline && !wasOnline.current && outcome?.kind === 'lost') void chat.refresh();
    wasOnline.current = isOnline;
  });

  return (
    <div className="conversation">
      <ThreadHead threadId={threadId} isListed={stored.messages.length > 0 && !isTemporary}>
        {messages.length === 0 ? (
          <Button
            Icon={MessageCircleDashed}
            text="Temporary chat"
            className="toggle"
            aria-pressed={isTemporary}
            onClick={() => setTemporary(!isTemporary)}
          />
        ) : (
          isTemporary && <h2 className="strong cut title">Temporary chat</h2>
        )}
      </ThreadHead>
      {isDragging && <p className="dropping">Drop files to attach them</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls needs the keyboard. */}
      <section className="messages" aria-label="Conversation" aria-busy={isAnswering} ref={view} tabIndex={0}>
        <div className="column" ref={content}>
          <ConversationContext
            value={{
              among: [...new Set(madeIn(messages).flatMap(idsOf))],
              price: prices?.message,
              previews,
              onRetried: () => void chat.refresh(),
            }}
          >
            {isBeginning && (
              <Beginning
                prices={prices}
                isTemporary={isTemporary}
                onChoose={(suggestion) => {
                  chat.send(suggestion, [], choice);
                  follow();
                }}
              />
            )}
            {messages.length > 0 && isTemporary && <TemporaryNote />}
            {isForgotten && !isTemporary && (
              <p className="quiet small">Nothing is remembered from this conversation.</p>
            )}
            <AttachContext value={({ assetId }) => addAssets([assetId])}>
              {messages.map((message, place) => (
                <Message
                  key={message.id}
                  message={message}
                  question={textOfMessage(messages[place - 1] ?? message)}
                  isLast={message === last}
                  isUnanswered={message.role === 'user' && messages[place + 1]?.role === 'user'}
                  edited={edited?.id === message.id ? edited.text : undefined}
                  actions={{
                    versions: versionsOf(message.id),
                    ...(!isAnswering && { edit }),
                    ...(isOnline && !isAnswering && message === last && { approve: chat.approve, regenerate }),
                  }}
                />
              ))}
            </AttachContext>
            {chat.isWaiting && !chat.isReconnecting && (
              <p className="state" role="status">
                <span className="spinner" aria-hidden="true" /> Waiting for the answer … <Seconds />
              </p>
            )}
            {chat.isReconnecting && (
              <p className="quiet reconnecting" role="status">
                <WifiOff size={16} strokeWidth={1.75} aria-hidden="true" />
                {isOnline ? 'Reconnecting …' : 'You are offline. The answer continues when you are online again.'}
              </p>
            )}
            {!isAnswering && outcome !== undefined && (
              <OutcomeNote
                outcome={outcome}
                modelChoice={modelChoice}
                onAnswerAgain={() => chat.answerAgain(last, choice)}
                onReconnect={() => void chat.refresh()}
              />
            )}
          </ConversationContext>
        </div>
      </section>
      <div className="below">
        {!isFollowing && <Button Icon={ArrowDown} text="Newest" className="newest" onClick={follow} />}
        <QueuedMessages queued={stored.queued} removing={removing} />
        {messages.length > 0 && isTemporary && (
          <TemporaryBar
            threadId={threadId}
            onKept={() => {
              setTemporary(false);
              void chat.refresh();
            }}
          />
        )}
        <Composer
          {...{
            field,
            text,
            setText,
            attachments,
            modelChoice,
            mediaChoice,
            prices,
            isAnswering,
            isOnline,
            busySending,
          }}
          onSendWhileBusy={busySending.mutate}
          onSend={(message, files) => {
            for (const { assetId, preview } of files)
              if (assetId !== undefined && preview !== undefined) previews.set(assetId, preview);
            setText('');
            attachments.set([]);
            clearDraft(threadId);
            chat.send(message, files, choice);
            follow();
          }}
          onStop={chat.stopAnswer}
        />
      </div>
      <p className="unseen" role="status">
        {announcements[isAnswering ? 'answering' : isAsked ? 'asked' : (chat.outcome?.kind ?? 'lost')]}
      </p>
    </div>
  );
}

const unanswered = { kind: 'unanswered' } as const;

/** Failures are alerts of their own. */
const announcements: Readonly<Record<string, string>> = words;

/** Unsent text survives a reload and other pages. All new conversations have the same, because they have no URL that one returns to. */
function useStoredText(key: string, text: string): void {
  const former = useRef(key);
  useEffect(() => {
    // The first message ends a new conversation, so the next one begins without its text.
    if (former.current !== key || text === '') sessionStorage.removeItem(former.current);
    if (text !== '') sessionStorage.setItem(key, text);
    former.current = key;
  }, [key, text]);
}

const suggestions = [
  { text: 'An image of a lighthouse at dusk', Icon: ImagePlus, makes: 'images' },
  { text: 'A video of waves', Icon: Clapperboard, makes: 'video' },
  { text: 'Remember that I like warm colors', Icon: Brain, makes: undefined },
  { text: 'What do you know about me?', Icon: Sparkles, makes: undefined },
] as const;

interface BeginningProps {
  readonly prices: Prices | undefined;
  readonly isTemporary: boolean;
  readonly onChoose: (text: string) => void;
}

function Beginning({ prices, isTemporary, onChoose }: BeginningProps) {
  const isOnline = useIsOnline();
  const forWhat = (makes: string) =>
    makes === 'images' && prices && prices.count > 1 ? `for ${prices.count} images` : 'to make it';
  return (
    <div className="beginning">
      <h2>{isTemporary ? 'A temporary chat' : 'What do you want to create?'}</h2>
      <p className="quiet">
        Describe an image or a video, or begin with an example.
        <span className="tip">
          <Paperclip size={16} strokeWidth={1.75} aria-hidden="true" />{' '}
          {isTouch() ? 'Choose files or take a photo' : 'Drop or paste files'} to work with them.
        </span>
      </p>
      {isTemporary ? <TemporaryNote /> : <Recent />}
      <ul>
        {/* The others are about memory. */}
        {suggestions.slice(0, isTemporary ? 2 : undefined).map(({ text, Icon, makes }) => (
          <li key={text}>
            <button type="button" disabled={!isOnline} onClick={() => onChoose(text)}>
              <Icon size={20} strokeWidth={1.75} aria-hidden="true" />
              <span>
                {text}
                <span className="cost quiet small">
                  {prices &&
                    plural(prices.message, 'credit') + (makes ? ` + ${countOf(prices[makes])} ${forWhat(makes)}` : '')}
                </span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** What a returning user can continue. */
function Recent() {
  const assets = useNewest({}, 100).data?.assets ?? [];
  const { threads = [] } = useThreads('');
  const continued = threads.flatMap(({ threadId, title }) => {
    const asset = assets.find(({ scopeKind, scopeId }) => scopeKind === 'thread' && scopeId === threadId);
    return asset ? { asset, title, href: `/studio/${threadId}` } : [];
  });
  const created = assets.filter(({ generated }) => generated !== null);
  const latest = (created.length > 0 ? created : assets).slice(0, 6);
  const state = fromAmong(latest.map(({ assetId }) => assetId));
  const ofLatest = latest.map((asset) => ({ asset, title: '', href: `/library/${asset.assetId}` }));
  const shelves = [
    ['Continue a conversation', 'recent', continued.slice(0, 3)],
    [created.length > 0 ? 'Your latest creations' : 'Your latest files', 'recent latest', ofLatest],
  ] as const;
  return shelves.map(
    ([name, className, links]) =>
      links.length > 0 && (
        <nav key={name} className={className} aria-label={name}>
          <h3>{name}</h3>
          {links.map(({ asset, title, href }) => (
            <Link key={href} href={href} state={state} aria-label={title || nameOf(asset)}>
              <Thumb asset={asset} />
              <span className="cut">{title}</span>
            </Link>
          ))}
        </nav>
      ),
  );
}

/** Stays in view: what the chat is, and the ways to keep it and to end it. */
function TemporaryBar({ threadId, onKept }: { readonly threadId: string; readonly onKept: () => void }) {
  const { change, deleteForGood } = useThreadCalls();
  const end = async () => {
    await deleteForGood([{ threadId }]);
    navigate(`/studio/${newThreadId()}`);
    notify('The chat is deleted.');
  };
  return (
    <div className="temporarymark">
      <MessageCircleDashed size={16} strokeWidth={1.75} aria-hidden="true" />
      <span className="strong">Temporary chat</span>
      <button
        type="button"
        className="plain"
        onClick={() => change(threadId, { temporary: false }).then(onKept, notifyFailure)}
      >
        Keep it
      </button>
      <Confirm label="Delete now" question="Its images stay." onConfirm={() => end().catch(notifyFailure)} />
    </div>
  );
}

function TemporaryNote() {
  return (
    <p className="temporary quiet small">
      <MessageCircleDashed size={16} strokeWidth={1.75} aria-hidden="true" />
      <span>
        This chat uses no memory, and nothing is remembered from it. It is not in your list, and is deleted 24 hours
        after its last message. Its images and videos stay in your library.
      </span>
    </p>
  );
}

// The versions of a conversation that edits and other answers have made.

/** By the id of the message with which they begin. `onChosen` reads the conversation again. */
function useVersions(
  threadId: string,
  stored: readonly UIMessage[],
  isAnswering: boolean,
  onChosen: () => Promise<unknown>,
): (messageId: string) => VersionsOf | undefined {
  const user = useUser();
  const reread = useReread();
  const { data } = useQuery({
    // A run that has ended may have made one.
    queryKey: ['versions', user.id, threadId, stored.length, stored.at(-1)?.id],
    queryFn: () => agentCalls(user.agent).listBranches(threadId),
    enabled: stored.length > 0 && !isAnswering,
    placeholderData: (previous) => previous,
    retry: false,
  });
  async function choose(branchId: string | null | undefined): Promise<void> {
    if (!branchId) return;
    await agentCalls(user.agent).chooseBranch(threadId, branchId).catch(notifyFailure);
    await onChosen();
    await reread('versions', threadId);
  }
  return (messageId) => {
    const branches = data?.forks.find((fork) => fork.messageId === messageId)?.branches;
    if (branches === undefined) return undefined;
    return {
      place: branches.findIndex(({ branchId }) => branchId === null) + 1,
      count: branches.length,
      choose: isAnswering ? undefined : (place) => void choose(branches[place - 1]?.branchId),
    };
  };
}

// Messages that wait for the answer in progress.

interface QueuedMessagesProps {
  readonly queued: readonly QueuedMessage[];
  /** The text of a removed message returns to the composer. */
  readonly removing: Pick<UseMutationResult<unknown, Error, QueuedMessage>, 'error' | 'isPending' | 'mutate'>;
}

function QueuedMessages({ queued, removing }: QueuedMessagesProps) {
  if (queued.length === 0) return null;
  return (
    <>
      <ul className="queued" aria-label="Queued messages">
        {queued.map((each) => {
          const text = textOfMessage({ parts: each.message.parts as UIMessage['parts'] });
          return (
            <li key={each.taskId}>
              <span className="quiet small">Next</span>
              <span className="cut">{text || 'Files'}</span>
              <IconButton
                label={`Remove from the queue: ${text}`}
                title="Remove from the queue"
                Icon={Undo2}
                disabled={removing.isPending}
                onClick={() => removing.mutate(each)}
              />
            </li>
          );
        })}
      </ul>
      <Problem of={removing.error} />
    </>
  );
}

const nearPx = 48;

/** Keeps the end in view while the content grows, until the reader scrolls up. `follow` scrolls to the end, and follows from then on. */
function useFollowing(isOn: boolean) {
  const view = useRef<HTMLElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const [isFollowing, setFollowing] = useState(true);

  const set = useCallback((next: boolean) => {
    follows.current = next;
    setFollowing(next);
  }, []);

  useEffect(() => {
    const box = view.current;
    if (!isOn || box === null || content.current === null) return;
    let top = box.scrollTop;
    const onScroll = () => {
      const isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < nearPx;
      // Growth of the content does not move the view, so a smaller offset is the reader's.
      if (isAtEnd) set(true);
      else if (box.scrollTop < top) set(false);
      top = box.scrollTop;
    };
    const observer = new ResizeObserver(() => {
      if (follows.current) box.scrollTop = box.scrollHeight;
    });
    observer.observe(content.current);
    observer.observe(box);
    box.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      observer.disconnect();
      box.removeEventListener('scroll', onScroll);
    };
  }, [set, isOn]);

  function follow(): void {
    set(true);
    if (view.current !== null) view.current.scrollTop = view.current.scrollHeight;
  }

  return { view, content, isFollowing, follow };
}
