import { useState } from 'react';
import { Dialog } from '../parts/dialog.tsx';
import { AssetImage } from './assetimage.tsx';
import { useSigned } from './signing.ts';
import './dialogs.css';

/** Two images, one over the other. The slider moves the line between them. */
export function CompareDialog({
  assetIds,
  onClose,
}: {
  readonly assetIds: readonly string[];
  readonly onClose: () => void;
}) {
  const [[left, right], setPair] = useState<readonly [number, number]>([0, 1]);
  const [share, setShare] = useState(50);
  const choice = (label: string, value: number, onChoose: (place: number) => void) => (
    <label className="field">
      {label}
      <select value={value} onChange={({ target }) => onChoose(Number(target.value))}>
        {assetIds.map((id, place) => (
          <option key={id} value={place}>
            Image {place + 1}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <Dialog title="Compare" onClose={onClose} isWide>
      {assetIds.length > 2 && (
        <div className="comparechoices">
          {choice('Left', left, (place) => setPair([place, right]))}
          {choice('Right', right, (place) => setPair([left, place]))}
        </div>
      )}
      <div className="compare">
        <Side assetId={assetIds[right] ?? null} label={`Image ${right + 1}`} />
        <div className="over" ref={(box) => box?.style.setProperty('clip-path', `inset(0 ${100 - share}% 0 0)`)}>
          <Side assetId={assetIds[left] ?? null} label={`Image ${left + 1}`} />
        </div>
      </div>
      <label className="field">
        Line between the images
        <input type="range" min={0} max={100} value={share} onChange={({ target }) => setShare(Number(target.value))} />
      </label>
    </Dialog>
  );
}

function Side({ assetId, label }: { readonly assetId: string | null; readonly label: string }) {
  const { data } = useSigned('image', assetId);
  return <AssetImage url={data?.previewUrl ?? data?.url} alt={label} blurhash={data?.blurhash} isWhole />;
}
