import '../library/library.css';
import { useMutation, useQuery } from '@tanstack/react-query';
import { ChevronDown, ImagePlus, SlidersHorizontal, Sparkles, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { navigate } from 'wouter/use-browser-location';
import { AssetImage } from '../library/assetimage.tsx';
import { useAsset } from '../library/assets.ts';
import type { Deed, Kind, Order } from '../library/dialogs.ts';
import { prepareUpload } from '../library/queue.ts';
import { useSigned } from '../library/signing.ts';
import { useConsole } from '../operator.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { plural } from '../parts/figures.tsx';
import { Button, IconButton, icon } from '../parts/iconbutton.tsx';
import { Problem } from '../parts/states.tsx';
import { isTouch, useIsNarrow, useIsOnline } from '../shell/browser.ts';
import { notifyFailure } from '../shell/notices.ts';
import { type User, useUser } from '../user.tsx';
import { Price, Segments, Sources, Thumbnail } from './fields.tsx';
import * as orders from './order.ts';
import words from './words.json' with { type: 'json' };

const countKey = 'atelier.count';
const ratioKey = (kind: Kind) => `atelier.ratio.${kind}`;
const modelKey = (kind: Kind) => `atelier.model.${kind}`;

interface CreateDialogProps extends Pick<CreateFormProps, 'order'> {
  readonly deed: Deed;
  readonly onClose: () => void;
}

/** Orders what is made from one image. The page "Create" then shows it. */
export function CreateDialog({ deed, order, onClose }: CreateDialogProps) {
  return (
    <Dialog title={words.titles[deed]} onClose={onClose} isWide>
      <CreateForm
        deed={deed}
        order={order}
        onOrdered={() => {
          onClose();
          navigate('/create');
        }}
      />
    </Dialog>
  );
}

interface CreateFormProps {
  /** `undefined`: the user chooses the kind. */
  readonly deed?: Deed;
  readonly order: Order;
  /** Of the storage of the tab, which keeps what is not sent. */
  readonly draftKey?: string;
  readonly agreedCredits?: number | undefined;
  readonly onOrdered?: () => void;
}

export function CreateForm({ deed, order: given, draftKey = '', agreedCredits, onOrdered }: CreateFormProps) {
  const user = useUser();
  const [order, setOrder] = useState<Order>(() => {
    const draft = sessionStorage.getItem(draftKey);
    return draft === null ? given : JSON.parse(draft);
  });
  useEffect(() => {
    if (draftKey !== '') sessionStorage.setItem(draftKey, JSON.stringify(order));
  }, [draftKey, order]);
  const change = (changes: Partial<Order>) => setOrder((now) => ({ ...now, ...changes }));
  const { kind, strength } = order;
  const models = orders.useModels(kind);
  const usable = models.filter((one) => one.allowed);
  const usual = usable.find(({ id }) => id === localStorage.getItem(modelKey(kind))) ?? usable[0] ?? models[0];
  const model = models.find(({ id }) => id === order.model) ?? usual;
  // Signing answers for all images of the page at once, and for those that are gone.
  const { data: signed } = useSigned('image', order.references[0] ?? null);
  const { data: source } = useAsset(signed?.ready ? order.references[0] : undefined);
  const edge = useConsole().data?.addresses.edge;
  // The id of the share, and the place of the image on its page.
  const [, shareId, place = '/0'] = /^([\w-]{22,64})(\/\d+)?$/.exec(order.share ?? '') ?? [];
  const page = shareId && edge && !signed?.ready ? `${edge}/s/${shareId}${place}` : undefined;
  const { data: isShared = page !== undefined } = useQuery({
    queryKey: ['shared', page],
    queryFn: async () => (await fetch(`${page}/thumb.webp`)).status !== 404,
    enabled: page !== undefined,
  });
  const sharedPage = isShared ? page : undefined;
  // It has been deleted, or only its owner may use it.
  const isGone =
    sharedPage === undefined && (order.references.length > 0 ? signed?.ready === false : edge && order.share);
  const sourceRatio = source?.width && source.height ? `${source.width}:${source.height}` : undefined;
  const { count = 1, references, ratio, duration } = fitting(isGone ? { ...order, references: [] } : order, model);
  const hasSource = references.length > 0;
  // A video is made in a ratio of its model.
  const ordered = ratio ?? (kind === 'video' ? nearest(model?.ratios, sourceRatio) : undefined);
  const show = orders.useShowOrder();
  const key = useRef(crypto.randomUUID());
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    // On a touch screen, the keyboard would cover the page.
    if (!isTouch()) field.current?.focus();
    if (given.references.length > 0 || given.prompt !== '') window.scrollTo({ top: 0 });
  }, [given]);
  const price = model ? model.credits * (kind === 'image' ? count : 1) : 0;
  const sending = useMutation({
    mutationFn: async (sent: Order) => {
      const shape = ordered ?? sourceRatio;
      const remember = (id: string) => shape !== undefined && orders.rememberRatio(id, shape);
      remember(key.current);
      if (deed === undefined) {
        show(orders.unsent(key.current, sent, price));
        showNewest();
      }
      // An image that the user only looks at does not become a file of the library.
      const copied = sharedPage && sent.references.length > 0 ? [await copyShared(user, sharedPage)] : [];
      const references = [...copied, ...sent.references.slice(copied.length)];
      if (copied.length > 0) change({ references, share: undefined });
      const generation = await orders.sendOrder(user, { ...sent, references }, key.current);
      sessionStorage.removeItem(draftKey);
      localStorage.setItem(modelKey(sent.kind), sent.model ?? '');
      remember(generation.id);
      show(generation, key.current);
      onOrdered?.();
    },
    onError: () => show(undefined, key.current),
    // A refused order is another order when it is sent again.
    onSettled: () => {
      key.current = crypto.randomUUID();
    },
  });
  const isEmpty = order.prompt.trim() === '' && !(hasSource && strength);
  const canSend = useIsOnline() && !isEmpty && model?.allowed === true && !sending.isPending;
  const send = () =>
    canSend && sending.mutate({ ...order, model: model.id, count, references, ratio: ordered, duration });
  const isDue = useRef(agreedCredits !== undefined);
  useEffect(() => {
    if (!isDue.current || model === undefined) return;
    isDue.current = false;
    orders.forgetAgreement();
    if (price <= (agreedCredits ?? 0)) send();
  });
  const what = kind === 'video' ? 'a video' : count === 1 ? 'an image' : `${count} images`;
  // On a phone, the order below has to be in view too.
  const isFolded = useIsNarrow() && deed === undefined;
  const [isUnfolded, setUnfolded] = useState(false);
  return (
    <form
      className="createform"
      aria-label="New images or video"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        ref={field}
        className="grows"
        aria-label="Prompt"
        placeholder={deed ? words.hintsOfDeeds[deed] : words.hints[kind]}
        rows={isFolded ? 2 : 3}
        maxLength={strength ? 3800 : 4000}
        value={order.prompt}
        onChange={({ target }) => change({ prompt: target.value })}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          event.currentTarget.form?.requestSubmit();
        }}
      />
      {isGone && (
        <p className="problem">
          {!order.share ? words.gone : shareId ? words.ended : words.broken} Add another image, or describe one.
        </p>
      )}
      {sharedPage && !hasSource && (
        <p className="problem">
          This link names no image. Add one, or open <a href={`${edge}/s/${shareId}`}>the shared page</a>.
        </p>
      )}
      {deed === undefined && (
        <Segments
          name="Kind"
          options={['image', 'video'] as const}
          chosen={kind}
          onChoose={(next) => change({ kind: next, model: undefined, ratio: undefined, duration: undefined })}
          textOf={(one) => (one === 'image' ? 'Images' : 'Video')}
        />
      )}
      <References
        label={kind === 'image' ? 'References' : 'First frame'}
        ids={references}
        sharedPage={sharedPage}
        most={kind === 'image' ? (model?.maxReferences ?? 0) : 1}
        onChange={(next) => change({ references: next, share: next[0] === references[0] ? order.share : undefined })}
      />
      {hasSource && strength && (
        <Segments
          name={kind === 'image' ? 'Strength' : 'Motion'}
          options={['subtle', 'strong'] as const}
          chosen={strength}
          onChoose={(next) => change({ strength: next })}
          textOf={(one) => (one === 'strong' ? 'Strong' : kind === 'image' ? 'Subtle' : 'Gentle')}
        />
      )}
      {isFolded && (
        <button type="button" className="folding" aria-expanded={isUnfolded} onClick={() => setUnfolded(!isUnfolded)}>
          <SlidersHorizontal {...icon} />
          <span className="cut">
            {[ratio, kind === 'image' ? `${count} images` : duration && `${duration} s`, model?.label]
              .filter(Boolean)
              .join(' · ')}
          </span>
          <ChevronDown {...icon} />
        </button>
      )}
      {(!isFolded || isUnfolded) && (
        <>
          {model !== undefined && (
            <label className="field">
              Model
              <select value={model.id} onChange={({ target }) => change({ model: target.value })}>
                {models.map(({ id, label, allowed, credits }) => (
                  <option key={id} value={id} disabled={!allowed}>
                    {label} ({allowed ? `${plural(credits, 'credit')} each` : 'not in your plan'})
                  </option>
                ))}
              </select>
            </label>
          )}
          {(model?.ratios?.length ?? 0) > 0 && (
            <Segments
              name="Ratio"
              options={[...(hasSource ? [undefined] : []), ...(model?.ratios ?? [])]}
              chosen={ratio}
              onChoose={(next) => {
                if (next !== undefined) localStorage.setItem(ratioKey(kind), next);
                change({ ratio: next });
              }}
              textOf={(one) => one ?? 'Same as source'}
              ratioOf={(one) => one ?? sourceRatio}
            />
          )}
          {kind === 'image' && (model?.maxCount ?? 1) > 1 && (
            <Segments
              name="Number of images"
              options={[1, 2, 3, 4].filter((value) => value <= (model?.maxCount ?? 1))}
              chosen={count}
              onChoose={(value) => {
                localStorage.setItem(countKey, String(value));
                change({ count: value });
              }}
            />
          )}
          {kind === 'video' && (model?.durations?.length ?? 0) > 0 && (
            <Segments
              name="Seconds"
              options={model?.durations ?? []}
              chosen={duration}
              onChoose={(seconds) => change({ duration: seconds })}
            />
          )}
          {kind === 'video' && model?.durations?.length === 0 && (
            <p className="field fixed">Length: set by the model</p>
          )}
        </>
      )}
      {model !== undefined && !model.allowed && (
        <p className="problem">Your plan does not include {kind === 'image' ? 'images' : 'videos'}.</p>
      )}
      <Problem of={sending.error} />
      <div className="send">
        {model && <Price credits={price} />}
        <Button
          Icon={Sparkles}
          text={sending.isPending ? 'Sending …' : `Create ${what}`}
          type="submit"
          className="primary"
          disabled={!canSend}
        />
      </div>
    </form>
  );
}

/** The newest order, on a screen where the form fills the window. */
function showNewest(): void {
  if (isTouch() && document.activeElement instanceof HTMLElement) document.activeElement.blur();
  requestAnimationFrame(() => document.querySelector('.generation header')?.scrollIntoView({ block: 'nearest' }));
}

/** The order as the model can carry it out. */
function fitting(
  order: Order,
  model: orders.Model | undefined,
): Pick<Order, 'count' | 'references' | 'ratio' | 'duration'> {
  const { ratios = [], durations = [] } = model ?? {};
  const most = order.kind === 'image' ? (model?.maxReferences ?? order.references.length) : 1;
  const usual = localStorage.getItem(ratioKey(order.kind)) ?? (order.kind === 'video' ? '16:9' : '1:1');
  const fallback = ratios.includes(usual) ? usual : ratios[0];
  const chosen = ratios.find((ratio) => ratio === order.ratio);
  return {
    count: Math.min(order.count ?? Number(localStorage.getItem(countKey) ?? 4), model?.maxCount ?? 4),
    references: order.references.slice(0, most),
    ratio: chosen ?? (order.references.length > 0 ? undefined : fallback),
    // The one that is shown is sent. Another model may not have the chosen one.
    duration: durations.find((seconds) => seconds === order.duration) ?? durations[0],
  };
}

/** The ratio of the model that is most like the other one. */
const nearest = (ratios: readonly string[] = [], ratio = '16:9'): string | undefined =>
  ratios.toSorted((one, other) => distance(one, ratio) - distance(other, ratio))[0];
const distance = (one: string, other: string) => Math.abs(Math.log(orders.quotientOf(one) / orders.quotientOf(other)));
interface ReferencesProps {
  readonly label: string;
  readonly ids: readonly string[];
  /** Of the first one, which is not a file of the user yet. */
  readonly sharedPage: string | undefined;
  readonly most: number;
  readonly onChange: (ids: readonly string[]) => void;
}

function References({ label, ids, sharedPage, most, onChange }: ReferencesProps) {
  const user = useUser();
  const [uploading, setUploading] = useState(0);
  if (most === 0) return null;
  async function add(files: readonly File[]) {
    setUploading((now) => now + files.length);
    const added: string[] = [];
    for (const file of files) {
      await prepareUpload(user, file, { kind: 'image' })
        .run()
        .then(({ assetId }) => added.push(assetId), notifyFailure);
      setUploading((now) => now - 1);
    }
    onChange([...ids, ...added].slice(0, most));
  }
  return (
    <div className="field">
      <span aria-hidden="true">{label}</span>
      <ul className="references" aria-label={label}>
        {ids.map((id, place) => (
          <li key={id} className="reference">
            {sharedPage !== undefined && place === 0 ? (
              <AssetImage url={`${sharedPage}/thumb.webp`} alt="Shared image" isWhole />
            ) : (
              <Thumbnail assetId={id} alt="Reference" />
            )}
            <IconButton
              label="Remove the reference"
              Icon={X}
              className="icon"
              onClick={() => onChange(ids.filter((other) => other !== id))}
            />
          </li>
        ))}
        {ids.length + uploading < most && (
          <li>
            <Sources
              trigger={<Button className="addreference" Icon={ImagePlus} text={uploading ? 'Uploading …' : 'Add'} />}
              accept="image/*"
              multiple={most > 1}
              aria-label={`Upload: ${label}`}
              onFiles={(files) => void add(files.slice(0, most - ids.length))}
              onChoose={(id) => onChange([...ids.filter((other) => other !== id), id])}
            />
          </li>
        )}
      </ul>
    </div>
  );
}

/** The image of a public page becomes a file of the user, as if the user had downloaded it. */
async function copyShared(user: User, page: string): Promise<string> {
  // A reload does not copy it again.
  const known = sessionStorage.getItem(page);
  if (known !== null) return known;
  const response = await fetch(`${page}/full.jpg`);
  if (!response.ok) throw new Error('The image is no longer shared. Remove it to continue.');
  const image = await response.blob();
  const { assetId } = await prepareUpload(user, new File([image], 'Shared image.jpg', { type: image.type })).run();
  sessionStorage.setItem(page, assetId);
  return assetId;
}
