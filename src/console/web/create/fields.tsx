/** Fields that several orders have: a choice among few, images of the library, and the price. */
import './create.css';
import { Images, Upload } from 'lucide-react';
import { type ComponentProps, type ReactNode, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { AssetImage } from '../library/assetimage.tsx';
import { nameOf, useAssets } from '../library/assets.ts';
import { useSigned } from '../library/signing.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Find } from '../parts/fields.tsx';
import { countOf, plural } from '../parts/figures.tsx';
import { Pending } from '../parts/states.tsx';
import { useIsOnline } from '../shell/browser.ts';
import { Menu, MenuItem } from '../shell/menu.tsx';
import { useCredits } from '../studio/account.ts';
import { quotientOf } from './order.ts';

interface SegmentsProps<Option extends string | number | undefined> {
  readonly name: string;
  readonly options: readonly Option[];
  readonly chosen: Option;
  readonly onChoose: (option: Option) => void;
  readonly textOf?: (option: Option) => string;
  readonly ratioOf?: (option: Option) => string | undefined;
}

/** `textOf` also identifies an option. `ratioOf`: the shape beside its text. */
export function Segments<Option extends string | number | undefined>({
  name,
  options,
  chosen,
  onChoose,
  textOf = String,
  ratioOf,
}: SegmentsProps<Option>) {
  return (
    <div className="field">
      <span aria-hidden="true">{name}</span>
      <fieldset className={ratioOf ? 'ratios' : 'segments'} aria-label={name}>
        {options.map((option) => (
          <label key={textOf(option)}>
            <input
              type="radio"
              name={name}
              className="unseen"
              checked={chosen === option}
              onChange={() => onChoose(option)}
            />
            {ratioOf && <RatioShape ratio={ratioOf(option)} />}
            {textOf(option)}
          </label>
        ))}
      </fieldset>
    </div>
  );
}

/** A square if the ratio is not known. */
export function RatioShape({ ratio = '1:1' }: { readonly ratio?: string | undefined }) {
  const width = 14 * Math.min(1, quotientOf(ratio));
  const height = 14 / Math.max(1, quotientOf(ratio));
  return (
    <svg className="ratioshape" viewBox="0 0 16 16" aria-hidden="true">
      <rect x={8 - width / 2} y={8 - height / 2} width={width} height={height} rx="1" />
    </svg>
  );
}

interface SourcesProps extends Pick<ComponentProps<'input'>, 'accept' | 'aria-label' | 'multiple'> {
  readonly trigger: ReactNode;
  readonly onFiles: (files: readonly File[]) => void;
  readonly onChoose: (assetId: string) => void;
}

/** Adds files of the device, or an image of the library. */
export function Sources({ trigger, onFiles, onChoose, ...ofInput }: SourcesProps) {
  const input = useRef<HTMLInputElement>(null);
  const [isChoosing, setChoosing] = useState(false);
  const choose = (assetId: string) => {
    onChoose(assetId);
    setChoosing(false);
  };
  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        {...ofInput}
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])]);
          target.value = '';
        }}
      />
      <Menu trigger={trigger}>
        <MenuItem Icon={Upload} onSelect={() => input.current?.click()}>
          Upload
        </MenuItem>
        <MenuItem Icon={Images} onSelect={() => setChoosing(true)}>
          From the library
        </MenuItem>
      </Menu>
      {/* Its search is no field of the form around the menu. */}
      {isChoosing && createPortal(<Picker onChoose={choose} onClose={() => setChoosing(false)} />, document.body)}
    </>
  );
}

/** The newest images, or those that a search finds. */
function Picker({ onChoose, onClose }: Pick<SourcesProps, 'onChoose'> & { readonly onClose: () => void }) {
  const [q, setQ] = useState('');
  const { data, error, refetch } = useAssets({ type: 'image', q });
  return (
    <Dialog title="From your library" onClose={onClose} isWide>
      <Find label="Search names and prompts" value={q} onChange={setQ} />
      {data === undefined && <Pending error={error} retry={refetch} what="Reading the library" />}
      {data?.pages[0]?.assets.length === 0 && <p className="quiet">No images.</p>}
      <ul className="references" aria-label="Images">
        {data?.pages[0]?.assets.map((asset) => (
          <li key={asset.assetId}>
            <button type="button" className="reference" onClick={() => onChoose(asset.assetId)}>
              <Thumbnail assetId={asset.assetId} alt={nameOf(asset)} />
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

interface ThumbnailProps {
  readonly assetId: string | null;
  readonly alt: string;
  readonly isLarge?: boolean;
}

export function Thumbnail({ assetId, alt, isLarge = false }: ThumbnailProps) {
  const { data } = useSigned('image', assetId);
  const url = (isLarge ? data?.previewUrl : data?.thumbUrl) ?? data?.url;
  return <AssetImage url={url} alt={alt} blurhash={data?.blurhash} isWhole />;
}

export function Price({ credits }: { readonly credits: number }) {
  const account = useCredits();
  if (!useIsOnline())
    return (
      <span className="problem small" role="status">
        You are offline, so nothing is ordered. It stays here.
      </span>
    );
  return (
    <span className={`${account && account.credits < credits ? 'problem' : 'quiet'} small`}>
      {plural(credits, 'credit')}
      {account && `. You have ${countOf(account.credits)}.`}
    </span>
  );
}
