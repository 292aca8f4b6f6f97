import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Copy, ExternalLink, Globe, Link2, Share2 } from 'lucide-react';
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

/** Nothing is public before the user has confirmed it here. The link and Explore have the same settings. */
export function ShareDialog({ of, onClose }: { readonly of: Shareable; readonly onClose: () => void }) {
  const share = useShare(of);
  const [showPrompt, setShowPrompt] = useState(false);
  const [author, setAuthor] = useAuthor();
  const link = share.data ?? undefined;
  const shown = link ? { ...link, author: link.author ?? '' } : { showPrompt, author: author.trim() };
  const noun = of.kind === 'share-album' ? 'album' : 'conversation';
  const what = of.kind !== 'share' ? noun : of.asset.mime.startsWith('video/') ? 'video' : 'image';
  return (
    <Dialog title={`Share the ${what}`} onClose={onClose}>
      <fieldset className="share" disabled={link !== undefined}>
        {(of.kind !== 'share' || of.prompt !== null) && (
          <Check
            label={of.kind === 'share' ? 'Show the prompt' : 'Show the prompts'}
            value={shown.showPrompt}
            onChange={setShowPrompt}
          />
        )}
        <TextField
          label="Your name (optional)"
          maxLength={60}
          autoComplete="nickname"
          placeholder="Anonymous"
          value={link ? shown.author : author}
          onChange={setAuthor}
        />
      </fieldset>
      {share.data === undefined ? (
        <Pending error={share.error} retry={share.refetch} what="Reading the link" />
      ) : share.data !== null ? (
        <OpenLink share={share.data} what={what} />
      ) : (
        <NewLink of={of} what={what} shown={shown} />
      )}
      {of.kind === 'share' && <Publishing of={of} what={what} shown={shown} />}
      <p className="small">
        <Link href="/shared" onClick={onClose}>
          All links
        </Link>
      </p>
    </Dialog>
  );
}

interface SectionProps<Target> {
  readonly of: Target;
  readonly what: string;
  readonly shown: { readonly showPrompt: boolean; readonly author: string };
}

function NewLink({ of, what, shown: { showPrompt, author } }: SectionProps<Shareable>) {
  const user = useUser();
  const reread = useRereadShares();
  const [index, setIndex] = useState(false);
  const [attachments, setAttachments] = useState(false);
  const [expiresIn, setExpiresIn] = useState('');
  const creating = useMutation({
    mutationFn: () => {
      const optional = { ...(author && { author }), ...(expiresIn && { expiresIn: Number(expiresIn) }) };
      const json = { ...targetOf(of), showPrompt, index, attachments, ...optional };
      return user.json<Share>('media', '/v1/shares', { method: 'POST', json });
    },
    onSuccess: reread,
  });
  const isThread = of.kind === 'share-thread';
  return (
    <form
      className="share"
      onSubmit={(event) => {
        event.preventDefault();
        creating.mutate();
      }}
    >
      <h3>
        <Link2 {...icon} /> Link
      </h3>
      <p>
        Anyone with the link can see the {what}
        {isThread && ' as it is now. Later messages are not shared'}
        {of.kind === 'share-album' && ' as it is now. What you add later is not shared'}. You can end this at any time.
      </p>
      {isThread && <Check label="Show attached files" value={attachments} onChange={setAttachments} />}
      <Check label="Let search engines find it" value={index} onChange={setIndex} />
      <Choice label="The link works" choices={periods} value={expiresIn} onChange={setExpiresIn} />
      <Problem of={creating.error} />
      <div>
        <Button
          Icon={Link2}
          text={creating.isPending ? 'Creating the link …' : 'Create a public link'}
          type="submit"
          className="primary"
          disabled={creating.isPending}
        />
      </div>
    </form>
  );
}

export function EndSharing({ id }: Pick<Share, 'id'>) {
  const user = useUser();
  const reread = useRereadShares();
  const end = () =>
    user.send('media', `/v1/shares/${id}`, { method: 'DELETE' }).then(() => {
      notify('The link no longer works.');
      reread();
    }, notifyFailure);
  return <Confirm label="End sharing" question="The link stops working." onConfirm={end} />;
}

function OpenLink({ share, what }: { readonly share: Share; readonly what: string }) {
  return (
    <div className="share">
      <h3>
        <Link2 {...icon} /> Link
      </h3>
      <p>Anyone with this link can see the {what}.</p>
      <input readOnly aria-label="Public link" value={share.url} onFocus={(event) => event.currentTarget.select()} />
      <div className="does">
        <Button
          Icon={Copy}
          text="Copy the link"
          className="primary"
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
      <p className="quiet small">
        {share.expiresAt === null ? 'It works until you end it.' : `It works until ${momentOf(share.expiresAt)}.`}{' '}
        {share.assetId === null ? 'Prompts are' : 'The prompt is'} {share.showPrompt ? 'shown' : 'not shown'}. To change
        this, end the link first.
      </p>
    </div>
  );
}

/** The public feed, which everyone who uses the studio sees under Explore. */
function Publishing({ of, what, shown: { showPrompt, author } }: SectionProps<Extract<Shareable, { kind: 'share' }>>) {
  const user = useUser();
  const queries = useQueryClient();
  const readNew = useNewAssets();
  const forget = useForget();
  const patch = usePatch();
  const queryKey = ['published', user.id, of.asset.assetId];
  const { data: published, error } = useQuery({ queryKey, queryFn: () => findPublished(user, of.asset), staleTime: 0 });
  const publishing = useMutation({
    mutationFn: () => publish(user, of.asset, { showPrompt, author }),
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
