import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { CheckCheck, Copy, ExternalLink, Globe, Link2, Share2 } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { Confirm } from '../parts/confirm.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Check, Choice, TextField } from '../parts/fields.tsx';
import { momentOf } from '../parts/figures.tsx';
import { Button, icon } from '../parts/iconbutton.tsx';
import { Pending, Problem } from '../parts/states.tsx';
import { notify, notifyFailure } from '../shell/notices.ts';
import { useUser } from '../user.tsx';
import { findPublished, publish } from './actions.ts';
import { useForget, useNewAssets, usePatch } from './assets.ts';
import {
  canHandOn,
  copyLink,
  type Share,
  type Shareable,
  targetOf,
  useAuthor,
  useRereadShares,
  useShare,
} from './shares.ts';
import './dialogs.css';

const day = 86_400;
const periods = [
  ['', 'Until you end it'],
  [String(day), 'For a day'],
  [String(7 * day), 'For a week'],
  [String(30 * day), 'For 30 days'],
] as const;

interface Options extends Pick<Share, 'showPrompt' | 'index' | 'attachments'> {
  readonly author: string;
  /** Seconds, empty for always, or `kept` for the time that the link has. */
  readonly expiresIn: string;
}

const fresh = { showPrompt: false, index: false, attachments: false, expiresIn: '' };
const optionsOf = ({ showPrompt, index, attachments, author, expiresAt }: Share): Options => ({
  ...{ showPrompt, index, attachments, author: author ?? '', expiresIn: expiresAt === null ? '' : 'kept' },
});

/** Nothing is public before the user has confirmed it here. The link and Explore have the same name and prompt. */
export function ShareDialog({ of, onClose }: { readonly of: Shareable; readonly onClose: () => void }) {
  const user = useUser();
  const reread = useRereadShares();
  const share = useShare(of);
  const [author, setAuthor] = useAuthor();
  const [changes, setChanges] = useState<Partial<Options>>({});
  const link = share.data ?? undefined;
  const known: Options = link ? optionsOf(link) : { ...fresh, author };
  const options = { ...known, ...changes };
  const change = (next: Partial<Options>) => setChanges({ ...changes, ...next });
  const isChanged = Object.keys(options).some((name) => Reflect.get(options, name) !== Reflect.get(known, name));
  const saving = useMutation({
    // For what is shared already, it changes the options of the link.
    mutationFn: () => {
      const { author: name, expiresIn, ...flags } = options;
      const keptS = Math.round((Date.parse(link?.expiresAt ?? '') - Date.now()) / 1000);
      const seconds = expiresIn === 'kept' ? Math.max(60, keptS) : Number(expiresIn);
      const optional = { ...(name.trim() && { author: name.trim() }), ...(seconds && { expiresIn: seconds }) };
      return user.json<Share>('media', '/v1/shares', {
        method: 'POST',
        json: { ...targetOf(of), ...flags, ...optional },
      });
    },
    onSuccess: async () => {
      await reread();
      setChanges({});
      if (link) notify('Changed. The link is the same.');
    },
  });
  const isThread = of.kind === 'share-thread';
  const noun = of.kind === 'share-album' ? 'album' : 'conversation';
  const what = of.kind !== 'share' ? noun : of.asset.mime.startsWith('video/') ? 'video' : 'image';
  const kept = link?.expiresAt ? [['kept', `Until ${momentOf(link.expiresAt)}`] as const] : [];
  return (
    <Dialog title={`Share the ${what}`} onClose={onClose}>
      <div className="share">
        {(of.kind !== 'share' || of.prompt !== null) && (
          <Check
            label={of.kind === 'share' ? 'Show the prompt' : 'Show the prompts'}
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
          onChange={(next) => {
            setAuthor(next);
            change({ author: next });
          }}
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
            Anyone with the link can see the {what}
            {isThread && ' as it was when you shared it. Later messages are not shared'}
            {of.kind === 'share-album' && ' as it was when you shared it. What you add later is not shared'}.
          </p>
          {link && <OpenLink share={link} isPrimary={!isChanged} />}
          {isThread && !link && (
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
          <Problem of={saving.error} />
          {(!link || isChanged) && (
            <Button
              Icon={link ? CheckCheck : Link2}
              text={link ? 'Save the changes' : 'Create a public link'}
              className="primary"
              disabled={saving.isPending}
              onClick={() => saving.mutate()}
            />
          )}
        </div>
      )}
      {of.kind === 'share' && <Publishing of={of} what={what} shown={options} />}
      <p className="small">
        <Link href="/shared" onClick={onClose}>
          All links
        </Link>
      </p>
    </Dialog>
  );
}

export function EndSharing({ id }: Pick<Share, 'id'>) {
  const user = useUser();
  const reread = useRereadShares();
  const end = () =>
    user.send('media', `/v1/shares/${id}`, { method: 'DELETE' }).then(() => {
      notify('The link no longer works.');
      void reread();
    }, notifyFailure);
  return <Confirm label="End sharing" question="The link stops working." onConfirm={end} />;
}

function OpenLink({ share, isPrimary }: { readonly share: Share; readonly isPrimary: boolean }) {
  return (
    <>
      <input readOnly aria-label="Public link" value={share.url} onFocus={(event) => event.currentTarget.select()} />
      <div className="does">
        <Button
          Icon={Copy}
          text="Copy the link"
          className={isPrimary ? 'primary' : ''}
          onClick={() => copyLink(share.url).catch(notifyFailure)}
        />
        {canHandOn() && (
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
  readonly of: Extract<Shareable, { kind: 'share' }>;
  readonly what: string;
  readonly shown: Pick<Options, 'showPrompt' | 'author'>;
}

/** The public feed, which everyone who uses the studio sees under Explore. */
function Publishing({ of, what, shown: { showPrompt, author } }: PublishingProps) {
  const user = useUser();
  const queries = useQueryClient();
  const readNew = useNewAssets();
  const forget = useForget();
  const patch = usePatch();
  const queryKey = ['published', user.id, of.asset.assetId];
  const { data: published, error } = useQuery({ queryKey, queryFn: () => findPublished(user, of.asset), staleTime: 0 });
  const publishing = useMutation({
    mutationFn: () => publish(user, of.asset, { showPrompt, author: author.trim() }),
    onSuccess: async (made) => {
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
