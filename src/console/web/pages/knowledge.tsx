import '../knowledge/knowledge.css';
import '../library/library.css';
import { Brain, Download, Eraser, Pencil, Plus, Trash2 } from 'lucide-react';
import { type MouseEvent, type ReactNode, useState } from 'react';
import { useLocation } from 'wouter';
import type { Thread } from '#client/agent/api.ts';
import type { Addition, EntityExport, Memory } from '#client/memory/api.ts';
import { CallFailed } from '../calls.ts';
import * as facts from '../knowledge/facts.ts';
import { TypedConfirm } from '../parts/confirm.tsx';
import { Choice, Find, TextArea } from '../parts/fields.tsx';
import { When } from '../parts/figures.tsx';
import { Button, IconButton } from '../parts/iconbutton.tsx';
import { Paged } from '../parts/listing.tsx';
import { SaveForm } from '../parts/saveform.tsx';
import { useDeed } from '../parts/server.ts';
import { Empty, Loaded, PageHead, Section } from '../parts/states.tsx';
import { notifyFailure } from '../shell/notices.ts';
import { product } from '../shell/product.ts';
import { saveJson } from '../shell/saving.ts';
import { startDraft, useThreads } from '../studio/threads.ts';
import { useUser } from '../user.tsx';
import texts from './knowledgetexts.json' with { type: 'json' };

/** The key of everything that the page shows. */
const known = ['knowledge'];

/** The memory of the signed-in user. */
export function Knowledge() {
  const [query, setQuery] = useState('');
  return (
    <div className="knowledge">
      <PageHead title="Your memory">
        {product} uses these facts in your conversations. You can add, correct or delete them at any time.
      </PageHead>
      <Pause />
      <div className="finding">
        <Find label="Search memories" value={query} onChange={setQuery} />
        <AddFact />
      </div>
      {query === '' ? (
        <>
          <Profile onSource={setQuery} />
          <Everything />
        </>
      ) : (
        <Found query={query} />
      )}
      <section className="does data" aria-label="Your data">
        <Export />
        <EraseEverything />
      </section>
    </div>
  );
}

function Pause() {
  const user = useUser();
  const { data: pause } = facts.usePause();
  const change = useDeed((paused: boolean) => facts.pause(user, paused), known);
  if (pause === undefined) return null;
  const isPaused = change.isPending ? change.variables : pause.paused_at !== null;
  return (
    <section className="card pause" aria-label="Pause">
      <label>
        <input
          type="checkbox"
          role="switch"
          aria-checked={isPaused}
          checked={isPaused}
          disabled={change.isPending}
          aria-describedby="pause-effect"
          onChange={({ target }) => change.mutate(target.checked, { onError: notifyFailure })}
        />
        Pause memory
      </label>
      <p className="quiet" id="pause-effect">
        {isPaused
          ? 'Memory is paused. Nothing new is remembered, and these facts are not used.'
          : `While memory is paused, ${product} remembers nothing new, and uses none of these facts.`}
      </p>
    </section>
  );
}

/** A fact that no conversation has to contain first. A paused memory takes none. */
function AddFact() {
  const user = useUser();
  const { data: pause } = facts.usePause();
  const [isOpen, setOpen] = useState(false);
  const [type, setType] = useState<string>('preference');
  const add = async (content: string) => {
    const json = { ...facts.ownerOf(user), content, type };
    const { deduplicated } = await user.json<Addition>('memory', '/memory/add', { method: 'POST', json });
    return deduplicated ? 'It was merged with a fact that is known.' : 'Remembered.';
  };
  if (pause?.paused_at !== null) return null;
  if (!isOpen) return <Button Icon={Plus} text="Add a fact" className="primary" onClick={() => setOpen(true)} />;
  return (
    <section className="card" aria-label="New fact">
      <FactForm label="Fact" content="" save={add} onClose={() => setOpen(false)}>
        <Choice
          label="Kind"
          choices={facts.groups.map((group) => [group.type, group.title])}
          value={type}
          onChange={setType}
        />
      </FactForm>
    </section>
  );
}

const factNames: Readonly<Record<string, string>> = texts.factNames;

/** The values come from facts, which a search for a value finds. */
function Profile({ onSource }: { readonly onSource: (value: string) => void }) {
  const profile = facts.useProfile().data?.profile;
  const shown = Object.entries(profile?.facts ?? {}).filter(([name]) => factNames[name] !== undefined);
  if (shown.length === 0 && !profile?.summary) return null;
  return (
    <section className="card profile" aria-label="Profile">
      {profile?.summary && <p>{profile.summary}</p>}
      <dl>
        {shown.map(([name, value]) => (
          <div key={name}>
            <dt>{factNames[name]}</dt>
            <dd>
              {value}{' '}
              <button type="button" className="plain small" onClick={() => onSource(value)}>
                Where from?
              </button>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Everything() {
  const none = (
    <Empty Icon={Brain} title={`${product} has not stored anything about you yet.`}>
      <p>Add a fact, or say in a conversation: “Remember that I like warm colors.”</p>
      <button type="button" onClick={() => startDraft({ assetIds: [], text: 'Remember that I like warm colors' })}>
        Start a conversation
      </button>
    </Empty>
  );
  return (
    <Paged pages={facts.useMemories()} label="Your memories" itemsOf={({ memories }) => memories} empty={none}>
      {(memories) =>
        facts.groups.map(({ type, title, about }) => {
          const ofType = memories.filter((memory) => memory.type === type);
          return (
            ofType.length > 0 && (
              <Section key={type} id={`group-${type}`} title={title}>
                <p className="quiet">{about}</p>
                <Facts memories={ofType} />
              </Section>
            )
          );
        })
      }
    </Paged>
  );
}

function Found({ query }: { readonly query: string }) {
  return (
    <Loaded of={facts.useSearch(query)} what="Searching">
      {({ memories }) => (memories.length === 0 ? <Empty title="Nothing matches." /> : <Facts memories={memories} />)}
    </Loaded>
  );
}

function Facts({ memories }: { readonly memories: readonly ShownMemory[] }) {
  return (
    <ul>
      {memories.map((memory) => (
        <Fact key={memory.id} memory={memory} />
      ))}
    </ul>
  );
}

/** Downloads everything that is known, with its history, as JSON. */
function Export() {
  const user = useUser();
  const download = useDeed(async () => {
    const all = await user.json<EntityExport>('memory', '/export').catch((error: unknown) => {
      if (error instanceof CallFailed && error.status === 404) throw new Error('There is nothing to export.');
      throw error;
    });
    saveJson('atelier-memory.json', all);
  });
  const start = () => download.mutate(undefined, { onError: notifyFailure });
  return <Button Icon={Download} text="Export" disabled={download.isPending} onClick={start} />;
}

function EraseEverything() {
  const user = useUser();
  const { data: pause } = facts.usePause();
  const [isOpen, setOpen] = useState(false);
  const erase = useDeed(async () => {
    await user.send('memory', `/entities/user/${user.id}`, { method: 'DELETE' });
    // Nothing stays of the entity, not even its pause.
    await facts.pause(user, typeof pause?.paused_at === 'string');
  }, known);
  const confirmation = { title: 'Erase your memory?', word: 'erase', label: 'Erase everything', of: erase };
  return (
    <>
      <Button Icon={Eraser} text="Erase everything" className="danger" onClick={() => setOpen(true)} />
      {isOpen && (
        <TypedConfirm {...confirmation} onClose={() => setOpen(false)}>
          Your profile, all memories and their history are deleted. You cannot undo this.
        </TypedConfirm>
      )}
    </>
  );
}

/** What is shown of a memory. */
type ShownMemory = facts.Known & Pick<Memory, 'said_at'> & Partial<Pick<Memory, 'added_by' | 'thread_id'>>;

/** Where and when the fact was stated. */
function Origin({ memory: { added_by: by, thread_id: threadId, said_at: at } }: { readonly memory: ShownMemory }) {
  const user = useUser();
  const [, navigate] = useLocation();
  const title = useThreads('').threads?.find((thread) => thread.threadId === threadId)?.title;
  const day = new Date(at).toLocaleDateString(undefined, { day: 'numeric', month: 'long', year: 'numeric' });
  async function open(event: MouseEvent, path: string) {
    event.preventDefault();
    try {
      await user.json<Thread>('agent', path.replace('/studio/', '/threads/'));
      navigate(path);
    } catch (error) {
      const isGone = error instanceof CallFailed && error.status === 404;
      notifyFailure(isGone ? new Error('This conversation has been deleted.') : error);
    }
  }
  const path = `/studio/${encodeURIComponent(threadId ?? '')}`;
  return (
    <p className="quiet facts">
      {threadId ? (
        <a href={path} onClick={(event) => void open(event, path)}>
          {title ? `From “${title}”` : `From a conversation of ${day}`}
        </a>
      ) : (
        by && <span>{texts.addedBy[by]}</span>
      )}
      <When at={at} />
    </p>
  );
}

function Fact({ memory }: { readonly memory: ShownMemory }) {
  const user = useUser();
  const forget = facts.useForgetting();
  const [isEditing, setEditing] = useState(false);
  const correct = (content: string) =>
    user.send('memory', `/memory/${memory.id}`, { method: 'PUT', json: { content } });
  if (!isEditing)
    return (
      <li className="fact">
        <div>
          <p>{memory.content}</p>
          <Origin memory={memory} />
        </div>
        <div className="does">
          <IconButton
            label={`Correct: ${memory.content}`}
            Icon={Pencil}
            title="Correct"
            onClick={() => setEditing(true)}
          />
          <IconButton
            label={`Forget: ${memory.content}`}
            Icon={Trash2}
            title="Forget"
            onClick={() => void forget(memory)}
          />
        </div>
      </li>
    );
  return (
    <li className="fact editing">
      <FactForm label="Correction" content={memory.content} save={correct} onClose={() => setEditing(false)} />
    </li>
  );
}

interface FactFormProps {
  readonly label: string;
  readonly content: string;
  /** As the work of `useDeed`. */
  readonly save: (content: string) => Promise<unknown>;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

/** In place of the fact that it corrects, or of the button that opened it. */
function FactForm({ label, content, save, onClose, children }: FactFormProps) {
  const [draft, setDraft] = useState(content);
  const saving = useDeed(() => save(draft.trim()), known);
  return (
    <SaveForm of={saving} submit="Save" isReady={draft.trim() !== ''} canCancel onClose={onClose}>
      <TextArea
        autoFocus
        className="grows"
        label={label}
        placeholder="For example: I like warm colors and soft light"
        maxLength={8000}
        value={draft}
        onChange={setDraft}
        onKeyDown={({ key }) => key === 'Escape' && onClose()}
      />
      {children}
    </SaveForm>
  );
}
