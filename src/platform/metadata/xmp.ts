/** The XMP packet of the mark of how an image or a video was made (docs/specification/media.md#made-by-ai). */

/** `ai`: a model made it. `edited`: a model changed what a person made. */
export type Generated = 'ai' | 'edited';

/** The addresses of IPTC's vocabulary. */
const sourceTypes = {
  ai: 'http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia',
  edited: 'http://cv.iptc.org/newscodes/digitalsourcetype/compositeWithTrainedAlgorithmicMedia',
} as const satisfies Record<Generated, string>;

/** The most that a mark adds to an image: the packet and its place. */
export const mostMarkBytes = 1024;

const packets = { ai: packetOf('ai'), edited: packetOf('edited') } as const;

/** The same bytes for every file, so that results can be compared. */
export function xmpPacket(mark: Generated): Uint8Array {
  return packets[mark];
}

/** Nothing but the mark. */
function packetOf(mark: Generated): Uint8Array {
  const text = [
    '<?xpacket begin="\uFEFF" id="W5M0MpCehiHzreSzNTczkc9d"?>',
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">',
    '<rdf:Description rdf:about="" xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/">',
    `<Iptc4xmpExt:DigitalSourceType>${sourceTypes[mark]}</Iptc4xmpExt:DigitalSourceType>`,
    '</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="r"?>',
  ].join('');
  return Buffer.from(text, 'utf8');
}

/** Content credentials of other tools can contain the same address. */
export type Carriers = 'xmp' | 'all';

const name = 'digitalsourcetype/';

/** Returns the mark that the bytes of a packet or of content credentials contain. Other source types are no mark. */
export function markIn(bytes: Uint8Array): Generated | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let found: Generated | undefined;
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + name.length)) {
    const type = /^[A-Za-z]+/.exec(text.toString('latin1', at + name.length, at + name.length + 48))?.[0];
    if (type === 'trainedAlgorithmicMedia') return 'ai';
    if (type === 'compositeWithTrainedAlgorithmicMedia') found = 'edited';
  }
  return found;
}

/** Returns the mark of a file with several carriers: `ai` if one of them has it. */
export const strongest = (marks: readonly (Generated | undefined)[]): Generated | undefined =>
  marks.find((mark) => mark === 'ai') ?? marks.find((mark) => mark !== undefined);
