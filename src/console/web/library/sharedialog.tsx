import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Copy, ExternalLink, Globe, Link2, RefreshCw, Share2 } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { Confirm } from '../parts/confirm.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Check, Choice, TextField } from '../parts/fields.tsx';
import { momentOf, plural } from '../parts/figures.tsx';
import { Button, icon } from '../parts/iconbutton.tsx';
import { Pending, Problem } from '../parts/states.tsx';
import { notify, notifyFailure } from '../shell/notices.ts';
import type { ThreadState } from '../studio/chat.ts';
import type { Thread } from '../studio/threads.ts';
import { useOwn, useReread, useUser } from '../user.tsx';
import { findPublished, publish } from './actions.ts';
import { useCached, useNewAssets } from './assets.ts';
import * as shares from './shares.ts';
import './dialogs.css';

const day = 86_400;
const periods = [
  ['', 'Until you end it'],
  [String(day), 'For a day'],
  [String(7 * day), 'For a week'],
  [String(30 * day), 'For 30 days'],
] as const;

interface Options extends Pick<shares.Share, 'showPrompt' | 'index' | 'attachments'> {
  readonly author: string;
  /** Seconds, empty for always, or `kept` for the time that the link has. */
  readonly expiresIn: string;
}

const fresh = { showPrompt: false, index: false, attachments: false, expiresIn: '' };
const optionsOf = ({ showPrompt, index, attachments, author, expiresAt }: shares.Share): Options => ({
  ...{ showPrompt, index, attachments, author: author ?? '', expiresIn: expiresAt === null ? '' : 'kept' },
});

/** Nothing is public before the user has confirmed it here. Then, each change is saved at once. */
export function ShareDialog({ of, onClose }: { readonly of: shares.Shareable; readonly onClose: () => void }) {
  const user = useUser();
  const reread = useReread();
  const share = shares.useShare(of);
  const [author, setAuthor] = shares.useAuthor();
  const [changes, setChanges] = useState<Partial<Options>>({});
  const link = share.data ?? undefined;
  const known: Options = link ? optionsOf(link) : { ...fresh, author };
  const options = { ...known, ...changes };
  const isChanged = Object.keys(options).some((name) => Reflect.get(options, name) !== Reflect.get(known, name));
  const isThread = of.kind === 'share-thread';
  const noun = of.kind === 'share-album' ? 'album' : 'conversation';
  const what = of.kind !== 'share' ? noun : of.asset.mime.startsWith('video/') ? 'video' : 'image';
  const saving = useMutation({
    // One after the other, so that the last change stays.
    scope: { id: 'share' },
    mutationFn: ({ author: name, expiresIn, ...flags }: Options & { readonly update?: boolean }) => {
      const keptS = Math.round((Date.parse(link?.expiresAt ?? '') - Date.now()) / 1000);
      const seconds = expiresIn === 'kept' ? Math.max(60, keptS) : Number(expiresIn);
      const optional = { ...(name.trim() && { author: name.trim() }), ...(seconds && { expiresIn: seconds }) };
      const json = { ...shares.targetOf(of), ...flags, ...optional };
      return user.json<shares.Share>('media', '/v1/shares', { method: 'POST', json });
    },
    onError: (error) => {
      notifyFailure(error);
      // The page shows what is stored.
      if (link) setChanges({});
    },
    onSuccess: async ({ url }, sent) => {
      // The name of an older link is not the one that the user has chosen last.
      if (!link || sent.author !== known.author) setAuthor(sent.author);
      if (!link)
        await shares.copyLink(url, 'The link is created and copied.').catch(() => notify('The link is created.'));
      if (sent.update) notify(`The link shows the ${what} as it is now.`);
      await reread('shares');
      const isUnsaved = ([name, value]: [string, unknown]) => Reflect.get(sent, name) !== value;
      setChanges((now) => Object.fromEntries(Object.entries(now).filter(isUnsaved)));
    },
  });
  const change = (next: Partial<Options>) => {
    setChanges({ ...changes, ...next });
    // An update adds the files to what the link shows, or removes them.
    if (link) saving.mutate({ ...options, ...next, update: 'attachments' in next });
  };
  const kept = link?.expiresAt ? [['kept', `Until ${momentOf(link.expiresAt)}`] as const] : [];
  const news = link?.newItems ?? 0;
  const threadId = isThread ? of.threadId : '';
  const now = { enabled: isThread, staleTime: 0 };
  const { data: thread } = useOwn<Thread>(['shared-thread', threadId], 'agent', `/threads/${threadId}`, now);
  const { data: read } = useOwn<Pick<ThreadState, 'messages'>>(
    ['shared-messages', threadId],
    'agent',
    `/messages/${threadId}`,
    now,
  );
  const hasFiles = read?.messages.some(
    ({ role, parts }) => role === 'user' && parts.some(({ type }) => type === 'file'),
  );
  const isNewer =
    link !== undefined &&
    thread !== undefined &&
    (thread.updatedAt > link.shownAt || [...(thread.title ?? '')].slice(0, 200).join('') !== (link.title ?? ''));
  const hasNews = news > 0 || isNewer;
  const prompts = isThread ? 'prompts that the model wrote for images and videos' : 'prompts';
  return (
    <Dialog title={`Share the ${what}`} onClose={onClose}>
      <div className="share">
        {(of.kind !== 'share' || of.prompt !== null) && (
          <Check
            label={`Show the ${of.kind === 'share' ? 'prompt' : prompts}`}
            value={options.showPrompt}
            onChange={(showPrompt) => change({ showPrompt })}
          />
        )}
        <TextField
          label="Your name (optional)"
          maxLength={60}
          autoComplete="nickname"
          placeholder="Anonymous"
          value={options.author}
          onChange={(next) => setChanges({ ...changes, author: next })}
          onBlur={() => isChanged && change({})}
          onKeyDown={({ key, currentTarget }) => key === 'Enter' && currentTarget.blur()}
        />
      </div>
      {share.data === undefined ? (
        <Pending error={share.error} retry={share.refetch} what="Reading the link" />
      ) : (
        <div className="share">
          <h3>
            <Link2 {...icon} /> Link
          </h3>
          <p>
            Anyone with the link can{' '}
            {isThread
              ? `read the messages that you ${isNewer ? `saw until ${momentOf(link.shownAt)}` : 'see now'}, with the images and videos in the answers. Later messages are not shared`
              : `see ${link && of.kind === 'share-album' ? `${plural(link.items, 'item')} of the album` : `the ${what}`}`}
            {of.kind === 'share-album' && '. What you add later is not shared'}
            {of.kind !== 'share' && ' until you update the link'}.
          </p>
          {link && <OpenLink share={link} isPrimary={!hasNews} />}
          {link && !hasNews && (thread || of.kind === 'share-album') && (
            <p className="quiet small">The link is up to date.</p>
          )}
          {link && hasNews && (
            <div className="does news">
              {isThread
                ? 'The conversation has changed since.'
                : `${plural(news, 'new item is', 'new items are')} not in the link.`}
              <Button
                Icon={RefreshCw}
                text="Update the link"
                className="primary"
                disabled={saving.isPending}
                onClick={() => saving.mutate({ ...options, update: true })}
              />
            </div>
          )}
          {hasFiles && !hasNews && (
            <Check
              label="Show attached files"
              value={options.attachments}
              onChange={(attachments) => change({ attachments })}
            />
          )}
          <Check label="Let search engines find it" value={options.index} onChange={(index) => change({ index })} />
          <Choice
            label="The link works"
            choices={[...kept, ...periods]}
            value={options.expiresIn}
            onChange={(expiresIn) => change({ expiresIn })}
          />
          {link ? (
            <p className="quiet small" role="status">
              {saving.isPending
                ? 'Saving …'
                : `${saving.isSuccess ? 'Saved.' : 'Changes are saved at once.'} The URL stays.`}
            </p>
          ) : (
            <Button
              Icon={Link2}
              text="Create a public link"
              className="primary"
              disabled={saving.isPending}
              onClick={() => saving.mutate(options)}
            />
          )}
        </div>
      )}
      {of.kind === 'share' && <Publishing of={of} what={what} shown={options} onPublished={setAuthor} />}
      <p className="small">
        <Link href="/shared" onClick={onClose}>
          All links
        </Link>
      </p>
    </Dialog>
  );
}

/** `onAnswered`: the question is open already. */
export function EndSharing({ id, onAnswered }: Pick<shares.Share, 'id'> & { readonly onAnswered?: () => void }) {
  const user = useUser();
  const reread = useReread();
  const end = () =>
    user.send('media', `/v1/shares/${id}`, { method: 'DELETE' }).then(() => {
      notify('The link no longer works.');
      void reread('shares');
    }, notifyFailure);
  return <Confirm label="End sharing" question="The link stops working." onConfirm={end} onAnswered={onAnswered} />;
}

function OpenLink({ share, isPrimary }: { readonly share: shares.Share; readonly isPrimary: boolean }) {
  return (
    <>
      <input readOnly aria-label="Public link" value={share.url} onFocus={(event) => event.currentTarget.select()} />
      <div className="does">
        <Button
          Icon={Copy}
          text="Copy link"
          className={isPrimary ? 'primary' : ''}
          onClick={() => shares.copyLink(share.url).catch(notifyFailure)}
        />
        {shares.canHandOn() && (
          <Button
            Icon={Share2}
            text="Send"
            onClick={() => navigator.share({ url: share.url }).catch(() => undefined)}
          />
        )}
        <a className="button" href={share.url} target="_blank" rel="noreferrer">
          <ExternalLink {...icon} />
          Open
        </a>
        <EndSharing id={share.id} />
      </div>
    </>
  );
}

interface PublishingProps {
  readonly of: Extract<shares.Shareable, { kind: 'share' }>;
  readonly what: string;
  readonly shown: Pick<Options, 'showPrompt' | 'author'>;
  readonly onPublished: (author: string) => void;
}

/** The public feed, which everyone who uses the studio sees under Explore. */
function Publishing({ of, what, shown: { showPrompt, author }, onPublished }: PublishingProps) {
  const user = useUser();
  const queries = useQueryClient();
  const readNew = useNewAssets();
  const { patch, forget } = useCached();
  const queryKey = ['published', user.id, of.asset.assetId];
  const { data: published, error } = useQuery({ queryKey, queryFn: () => findPublished(user, of.asset), staleTime: 0 });
  const publishing = useMutation({
    mutationFn: () => publish(user, of.asset, { showPrompt, author: author.trim() }),
    onSuccess: async (made) => {
      onPublished(author);
      queries.setQueryData(queryKey, [made]);
      void queries.invalidateQueries({ queryKey: ['gallery'] });
      patch([of.asset.assetId], { published: true });
      await readNew();
      notify('Published in Explore.');
    },
  });
  return (
    <section className="publishing">
      <h3>
        <Globe {...icon} /> Explore
      </h3>
      <Problem of={error ?? publishing.error} />
      {published?.length === 0 && (
        <>
          <p>Everyone can find the {what} in Explore, and remix it.</p>
          <Confirm
            label="Publish"
            tone="neutral"
            question={`The ${what} becomes public.`}
            onConfirm={() => publishing.mutateAsync().catch(() => undefined)}
          />
        </>
      )}
      {published !== undefined && published.length > 0 && (
        <>
          <p>The {what} is public in Explore.</p>
          <Confirm
            label="Unpublish"
            question="The public copy is deleted."
            onConfirm={async () => {
              const json = { ids: published.map(({ assetId }) => assetId) };
              await user.send('media', '/v1/assets', { method: 'DELETE', json }).then(() => {
                forget(json.ids);
                patch([of.asset.assetId], { published: false });
                queries.setQueryData(queryKey, []);
                void queries.invalidateQueries({ queryKey: ['gallery'] });
                notify('It is no longer in Explore.');
              }, notifyFailure);
            }}
          />
        </>
      )}
    </section>
  );
}
