/** The models of an answer and of its images and videos, and their number and ratio. */
import { Check, ChevronDown, Clapperboard, Image, MessageSquare, Proportions, SlidersHorizontal } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import type { TaskRequest } from '../../../client/agent/api.ts';
import { RatioShape } from '../create/fields.tsx';
import { type Model, useModels } from '../create/order.ts';
import { plural } from '../parts/figures.tsx';
import { useStored } from '../shell/browser.ts';
import { Menu, MenuChoice, MenuLine } from '../shell/menu.tsx';
import { type ModelChoice, useCredits } from './account.ts';

type Media = NonNullable<TaskRequest['media']>;

export type MediaChoice = ReturnType<typeof useMediaChoice>;

/** The choice is stored in this browser. What is not available any longer counts as not chosen. */
export function useMediaChoice() {
  const [text, store] = useStored('atelier.media');
  const stored: Media = JSON.parse(text || '{}');
  const images = useModels('image');
  const videos = useModels('video');
  const image = images.find(({ id, allowed }) => allowed && id === stored.imageModel);
  const video = videos.find(({ id, allowed }) => allowed && id === stored.videoModel);
  const ratio = ratiosOf(image ?? images[0], video ?? videos[0]).find((one) => one === stored.ratio);
  /** Of the images of one call. */
  const count = Math.min(stored.count ?? 1, (image ?? images[0])?.maxCount ?? 1);
  /** Without what the services choose anyway. */
  const media = {
    ...(image !== undefined && { imageModel: image.id }),
    ...(video !== undefined && { videoModel: video.id }),
    ...(ratio !== undefined && { ratio }),
    ...(count > 1 && { count }),
  } as Media;
  return {
    ...{ images, videos, image, video, ratio, count },
    media: Object.keys(media).length > 0 ? media : undefined,
    choose: (changes: Media) => store(JSON.stringify({ ...stored, ...changes })),
  };
}

export type Prices = NonNullable<ReturnType<typeof usePrices>>;

/** In credits: a message, what its answer may make, and the balance. */
export function usePrices({ chosen }: ModelChoice, { image, images, video, videos, count }: MediaChoice) {
  const account = useCredits();
  return (
    account && {
      left: account.credits,
      count,
      message: chosen?.credits ?? account.prices.run,
      images: count * (image?.credits ?? images[0]?.credits ?? account.prices.image),
      video: video?.credits ?? videos[0]?.credits ?? account.prices.video,
    }
  );
}

/** `null`: the default. */
const changed = ([first]: readonly Model[], id: string) => (id === first?.id ? null : id);

const ratiosOf = (...models: readonly (Model | undefined)[]) => [
  ...new Set(models.flatMap((model) => model?.ratios ?? [])),
];

export function ModelMenu({ chat, choice }: { readonly chat: ModelChoice; readonly choice: MediaChoice }) {
  const { images, videos, image, video, ratio, count, choose } = choice;
  const [firstImage, firstVideo] = [image ?? images[0], video ?? videos[0]];
  const answers = chat.models.length > 1 ? chat.chosen : undefined;
  const counts = [1, 2, 3, 4].filter((one) => one <= (firstImage?.maxCount ?? 0));
  const chosen = [answers?.label, image?.label, video?.label, ratio, count > 1 && `${count} images`].filter(Boolean);
  if (images.length + videos.length + chat.models.length === 0) return null;
  return (
    <Menu
      trigger={
        <button type="button" className="plain model">
          <span className="unseen">Models and ratio: </span>
          <SlidersHorizontal size={16} strokeWidth={1.75} aria-hidden="true" />
          <span className="cut">{chosen.join(', ') || 'Auto'}</span>
          <ChevronDown size={16} strokeWidth={1.75} aria-hidden="true" />
        </button>
      }
    >
      <Models of={chat.models} chosen={chat.chosen} onChoose={chat.choose} />
      <Models of={images} chosen={firstImage} onChoose={(id) => choose({ imageModel: changed(images, id) })} />
      <Models of={videos} chosen={firstVideo} onChoose={(id) => choose({ videoModel: changed(videos, id) })} />
      <MenuLine />
      {counts.length > 1 && (
        <>
          <DropdownMenu.Label className="menuhead">Images at a time</DropdownMenu.Label>
          <MenuChoice
            label="Images at a time"
            value={String(count)}
            choices={counts.map((one) => ({ value: String(one), title: String(one) }))}
            onChange={(one) => choose({ count: Number(one) })}
          />
        </>
      )}
      <DropdownMenu.Label className="menuhead">Ratio</DropdownMenu.Label>
      <MenuChoice
        label="Ratio"
        value={ratio ?? ''}
        choices={[
          { value: '', title: 'Auto', Icon: Proportions },
          ...ratiosOf(firstImage, firstVideo).map((one) => ({
            ...{ value: one, title: one, Icon: () => <RatioShape ratio={one} /> },
          })),
        ]}
        onChange={(one) => choose({ ratio: (one || null) as Media['ratio'] })}
      />
    </Menu>
  );
}

const kinds = {
  chat: ['Chat', MessageSquare, 'answer'],
  image: ['Images', Image, 'image'],
  video: ['Videos', Clapperboard, 'video'],
} as const;

interface ModelsProps {
  readonly of: readonly Model[];
  readonly chosen: Model | undefined;
  readonly onChoose: (id: string) => void;
}

/** The models of one kind, each with its price. */
function Models({ of: models, chosen, onChoose }: ModelsProps) {
  const [title, Icon, each] = kinds[models[0]?.kind ?? 'chat'];
  if (models.length === 0) return null;
  return (
    <DropdownMenu.RadioGroup aria-label={title} value={chosen?.id ?? ''} onValueChange={onChoose}>
      <DropdownMenu.Label className="menuhead">
        <Icon size={16} strokeWidth={1.75} aria-hidden="true" />
        {title}
      </DropdownMenu.Label>
      {models.map(({ id, label, credits, allowed, vision, tools }) => (
        <DropdownMenu.RadioItem key={id} value={id} className="menuitem" disabled={!allowed}>
          <span className="place">
            <DropdownMenu.ItemIndicator>
              <Check size={16} strokeWidth={1.75} aria-hidden="true" />
            </DropdownMenu.ItemIndicator>
          </span>
          <span className="choice">
            {label}
            <span className="quiet small">
              {[vision && 'reads images', tools && 'uses tools'].filter(Boolean).join(' · ')}
            </span>
          </span>
          <span className="quiet small">{allowed ? `${plural(credits, 'credit')} / ${each}` : 'Not in your plan'}</span>
        </DropdownMenu.RadioItem>
      ))}
    </DropdownMenu.RadioGroup>
  );
}
