import { decode, isBlurhashValid } from 'blurhash';
import { useEffect, useRef, useState } from 'react';

/** Enlarged, it looks the same as a larger one, and a row of tiles decodes in less than a millisecond. */
const side = 16;

/** A placeholder until the image is loaded. */
function Placeholder({ blurhash }: { readonly blurhash: string | null | undefined }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (!context || !blurhash || !isBlurhashValid(blurhash).result) return;
    context.putImageData(new ImageData(new Uint8ClampedArray(decode(blurhash, side, side)), side, side), 0, 0);
  }, [blurhash]);
  return <canvas ref={canvas} width={side} height={side} className="placeholder" />;
}

interface AssetImageProps {
  readonly url: string | undefined;
  readonly alt: string;
  readonly blurhash?: string | null | undefined;
  /** Shows the whole image. Otherwise it fills its box. */
  readonly isWhole?: boolean;
}

export function AssetImage({ url, alt, blurhash, isWhole = false }: AssetImageProps) {
  const [state, setState] = useState<'waiting' | 'there' | 'broken'>('waiting');
  return (
    <span className={`asset-image ${isWhole ? 'whole' : ''} ${state}`}>
      {state !== 'there' && <Placeholder blurhash={blurhash} />}
      {url !== undefined && state !== 'broken' && (
        <img src={url} alt={alt} loading="lazy" onLoad={() => setState('there')} onError={() => setState('broken')} />
      )}
      {state === 'broken' && <span className="quiet">Not shown: {alt}</span>}
    </span>
  );
}
