import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { AdminMemory, Revision } from '#memory/admin/api.ts';
import { EntityName, memoriesHref, untitled, useThreadTitle } from '../operator/names.tsx';
import { Changes, useMayChange } from '../operator.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Choice, TextArea } from '../parts/fields.tsx';
import { momentOf, When } from '../parts/figures.tsx';
import { SaveForm } from '../parts/saveform.tsx';
import { keyOf, useDeed, useRead } from '../parts/server.ts';
import { Loaded, Loading, Problem } from '../parts/states.tsx';
import { backOffice, kinds, memoriesKey, profileHref } from './backoffice.ts';

const useMemory = (id: string) => useRead<AdminMemory>(`/api/memory/memories/${encodeURIComponent(id)}`);

interface MemoryDetailsProps {
  readonly id: string;
  readonly onOpen: (id: string) => void;
  readonly onClose: () => void;
}

export function MemoryDetails({ id, onOpen, onClose }: MemoryDetailsProps) {
  const path = `/memories/${encodeURIComponent(id)}`;
  const mayChange = useMayChange();
  const history = useRead<{ readonly history: readonly Revision[] }>(`/api/memory${path}/history`).data?.history;
  const undo = useDeed(() => backOffice(`${path}/undo`, 'POST'), memoriesKey);
  /** Deletes this memory, or one that it is in conflict with. The deleted one is not read again. */
  const deleteOne = async (of: string) => {
    await backOffice(`/memories/${encodeURIComponent(of)}`, 'DELETE');
    if (of === id) onClose();
  };
  const remove = useDeed(deleteOne, [...memoriesKey, 'pages'], keyOf(`/api/memory${path}`));
  return (
    <Dialog title="Memory" onClose={onClose} isWide>
      <Loaded of={useMemory(id)} entry="memory">
        {(memory) => (
          <>
            <p className="quiet">
              <EntityName type={memory.entity_type} id={memory.entity_id} isLink />, changed{' '}
              <When at={memory.updated_at} /> ·{' '}
              <Link href={memoriesHref({ type: memory.entity_type, id: memory.entity_id })}>All memories</Link> ·{' '}
              <Link href={profileHref(memory.entity_type, memory.entity_id)}>Profile</Link>
            </p>
            <p>
              <Source of={memory} />
            </p>
            {memory.invalid_at !== null && (
              <p className="problem">
                Replaced <When at={memory.invalid_at} />
              </p>
            )}
            {memory.replaced_by !== null && (
              <ul className="lines">
                <Linked link={{ id: memory.replaced_by, kind: 'replaced by' }} onOpen={onOpen} />
              </ul>
            )}
            {mayChange ? <Edit key={memory.updated_at} memory={memory} path={path} /> : <p>{memory.content}</p>}
            {memory.links.length > 0 && (
              <>
                <h3>Linked</h3>
                <ul className="lines">
                  {memory.links.toSorted(conflictsFirst).map((link) => (
                    <Linked key={link.id} link={link} onOpen={onOpen}>
                      {mayChange && isConflict(link) && (
                        <Confirm
                          label="Keep the opened one"
                          question="Delete this other memory and its history?"
                          onConfirm={() => remove.mutateAsync(link.id)}
                        />
                      )}
                    </Linked>
                  ))}
                </ul>
              </>
            )}
            <h3>History</h3>
            <History revisions={history} />
            <Changes>
              <div className="row">
                {history?.some(({ undone }) => !undone) && (
                  <button type="button" disabled={undo.isPending} onClick={() => undo.mutate()}>
                    Undo the newest change
                  </button>
                )}
                <Confirm
                  label="Delete"
                  question="Delete this memory and its history?"
                  onConfirm={() => remove.mutateAsync(id)}
                />
              </div>
            </Changes>
            <Problem of={undo.error ?? remove.error} />
          </>
        )}
      </Loaded>
    </Dialog>
  );
}

const sources = {
  user: 'Added by the user',
  server: 'Added by an app',
  operator: 'Added by an operator',
  model: 'Learned from a conversation',
  thread: 'Stated in a conversation',
  unknown: 'Source not known',
};

/** Where a fact comes from, with the runs of its conversation. */
export function Source({ of: { added_by: by, thread_id: id, created_at } }: { readonly of: AdminMemory }) {
  const title = useThreadTitle(id);
  const words = sources[id === null || by === 'model' ? (by ?? 'unknown') : 'thread'];
  if (id === null) return words;
  return (
    <Link href={`/operator/runs?threadId=${encodeURIComponent(id)}`}>
      {words} {title === untitled ? `on ${momentOf(created_at)}` : `“${title}”`}
    </Link>
  );
}

function Edit({ memory, path }: { readonly memory: AdminMemory; readonly path: string }) {
  const [content, setContent] = useState(memory.content);
  const [type, setType] = useState<string>(memory.type);
  const save = useDeed(() => backOffice(path, 'PUT', { content, type }), memoriesKey);
  return (
    <SaveForm of={save} submit="Save" isReady={content !== memory.content || type !== memory.type}>
      <TextArea label="Content" rows={3} value={content} onChange={setContent} required />
      <Choice label="Kind" choices={kinds} value={type} onChange={setType} />
    </SaveForm>
  );
}

type LinkedMemory = { readonly id: string; readonly kind: string };
const isConflict = ({ kind }: LinkedMemory) => kind === 'conflict';
const conflictsFirst = (one: LinkedMemory, two: LinkedMemory) => Number(isConflict(two)) - Number(isConflict(one));

interface LinkedProps {
  readonly link: LinkedMemory;
  readonly onOpen: (id: string) => void;
  readonly children?: ReactNode;
}

function Linked({ link, onOpen, children }: LinkedProps) {
  const { data } = useMemory(link.id);
  return (
    <li>
      <button type="button" className="entry" onClick={() => onOpen(link.id)}>
        <span>{data?.content ?? link.id}</span>
        <span className={isConflict(link) ? 'problem' : 'quiet'}>{link.kind}</span>
      </button>
      {children}
    </li>
  );
}

function History({ revisions }: { readonly revisions: readonly Revision[] | undefined }) {
  if (revisions === undefined) return <Loading />;
  if (revisions.length === 0) return <p className="quiet">This memory has never been changed.</p>;
  return (
    <ol className="lines">
      {revisions.map(({ number, action, actor, before, after, reason, undone, created_at }) => (
        <li key={number}>
          <p className="quiet">
            {action} by {actor}, <When at={created_at} />
            {undone && ' · undone'}
          </p>
          {before.content === after.content ? (
            <p>{before.content}</p>
          ) : (
            <p>
              <del>{before.content}</del> <ins>{after.content}</ins>
            </p>
          )}
          {reason !== null && <p>Reason: {reason}</p>}
        </li>
      ))}
    </ol>
  );
}
