/** The models and the ratio of the images and videos that an answer makes. */
import { Check, ChevronDown, Film, Image, Images, Proportions } from 'lucide-react';
import { useState } from 'react';
import type { TaskRequest } from '../../../client/agent/api.ts';
import { type MediaModel, useMediaModels } from '../create/generations.ts';
import { Menu, MenuItem, MenuLine } from '../shell/menu.tsx';
import { creditsOf } from './account.ts';

type Media = NonNullable<TaskRequest['media']>;

export interface MediaChoice {
  readonly images: readonly MediaModel[];
  readonly videos: readonly MediaModel[];
  readonly image: MediaModel | undefined;
  readonly video: MediaModel | undefined;
  readonly ratio: string | undefined;
  /** Of the images of one call. */
  readonly count: number;
  /** Without what the services choose anyway. `undefined`: nothing was chosen. */
  readonly media: Media | undefined;
  readonly choose: (changes: Media) => void;
}

const mediaKey = 'atelier.media';

/** The choice is stored in this browser. What is not available any longer counts as not chosen. */
export function useMediaChoice(): MediaChoice {
  const [stored, setStored] = useState<Media>(() => JSON.parse(localStorage.getItem(mediaKey) ?? '{}'));
  const images = useMediaModels('image');
  const videos = useMediaModels('video');
  const image = images.find(({ id, allowed }) => allowed && id === stored.imageModel);
  const video = videos.find(({ id, allowed }) => allowed && id === stored.videoModel);
  const ratio = ratiosOf(image ?? images[0], video ?? videos[0]).find((one) => one === stored.ratio);
  const count = Math.min(stored.count ?? 1, (image ?? images[0])?.maxCount ?? 1);
  const media = {
    ...(image !== undefined && { imageModel: image.id }),
    ...(video !== undefined && { videoModel: video.id }),
    ...(ratio !== undefined && { ratio }),
    ...(count > 1 && { count }),
  } as Media;
  return {
    ...{ images, videos, image, video, ratio, count },
    media: Object.keys(media).length > 0 ? media : undefined,
    choose(changes) {
      const next = { ...stored, ...changes };
      localStorage.setItem(mediaKey, JSON.stringify(next));
      setStored(next);
    },
  };
}

const ratiosOf = (...models: readonly (MediaModel | undefined)[]) => [
  ...new Set(models.flatMap((model) => model?.ratios ?? [])),
];

export function MediaMenu({ choice }: { readonly choice: MediaChoice }) {
  const { images, videos, image, video, ratio, count, choose } = choice;
  const [firstImage, firstVideo] = [image ?? images[0], video ?? videos[0]];
  const ratios = ratiosOf(firstImage, firstVideo);
  if (images.length + videos.length === 0) return null;
  return (
    <Menu
      trigger={
        <button type="button" className="plain model">
          <span className="unseen">Images and videos </span>
          <Proportions size={16} strokeWidth={1.75} aria-hidden="true" />
          <span className="cut">
            {[image?.label ?? video?.label, ratio, count > 1 && `${count} images`].filter(Boolean).join(', ') || 'Auto'}
          </span>
          <ChevronDown size={16} strokeWidth={1.75} aria-hidden="true" />
        </button>
      }
    >
      {images.map((model) => (
        <Model
          key={model.id}
          model={model}
          isChosen={model === firstImage}
          onSelect={() => choose({ imageModel: model === images[0] ? null : model.id })}
        />
      ))}
      <MenuLine />
      {videos.map((model) => (
        <Model
          key={model.id}
          model={model}
          isChosen={model === firstVideo}
          onSelect={() => choose({ videoModel: model === videos[0] ? null : model.id })}
        />
      ))}
      {images.length > 0 && (
        <>
          <MenuLine />
          {[1, 2, 3, 4]
            .filter((one) => one <= (firstImage?.maxCount ?? 1))
            .map((one) => (
              <MenuItem key={one} Icon={one === count ? Check : Images} onSelect={() => choose({ count: one })}>
                <span className="choice">
                  {one === 1 ? '1 image' : `${one} images`}
                  <span className="quiet small">{creditsOf(one * (firstImage?.credits ?? 0))}</span>
                </span>
              </MenuItem>
            ))}
        </>
      )}
      <MenuLine />
      {[undefined, ...ratios].map((one) => (
        <MenuItem
          key={one ?? 'auto'}
          Icon={one === ratio ? Check : Proportions}
          onSelect={() => choose({ ratio: (one ?? null) as Media['ratio'] })}
        >
          {one ?? 'The ratio that fits'}
        </MenuItem>
      ))}
    </Menu>
  );
}

function Model({
  model: { kind, label, credits, allowed },
  isChosen,
  onSelect,
}: {
  readonly model: MediaModel;
  readonly isChosen: boolean;
  readonly onSelect: () => void;
}) {
  return (
    <MenuItem Icon={isChosen ? Check : kind === 'video' ? Film : Image} isDisabled={!allowed} onSelect={onSelect}>
      <span className="choice">
        {label}
        <span className="quiet small">
          {allowed ? `${creditsOf(credits)} ${kind === 'video' ? 'a video' : 'an image'}` : 'Not in your plan'}
        </span>
      </span>
    </MenuItem>
  );
}
