/** Terms that this project's texts avoid (CONTRIBUTING.md#style), each with what to write and where it is allowed. */

export interface Term {
  /** Words separated by `|`, or a pattern. Matches whole words in any case. */
  readonly words: string;
  /** What to write. */
  readonly use: string;
  /** Phrases in which the term is correct. A match inside one of them is no fault. */
  readonly allow?: readonly string[];
}

export const terms: readonly Term[] = [
  { words: 'anew|once more', use: 'again' },
  { words: 'whoever|whosoever|somebody|anybody|everybody|one who', use: 'the user, the caller, another process' },
  { words: 'nobody|no one', use: 'no user, no caller, or the state itself ("is unavailable")' },
  { words: "one another's|one another", use: 'each other' },
  { words: 'whatever else|what else', use: 'everything else' },
  { words: 'meanwhile', use: 'in the meantime, during this time' },
  { words: 'likewise', use: 'also, in the same way' },
  { words: 'hitherto', use: 'until now' },
  { words: 'afterwards', use: 'then, after it' },
  { words: 'as may be|as it were|for want of|save for', use: '(name the condition)' },
  { words: 'by itself', use: 'automatically, alone' },
  { words: 'it comes to', use: '(name what happens)' },
  { words: 'told|tell|tells|telling', use: 'report, return, show, configure' },
  { words: 'ask|asks|asked|asking', use: 'request, call, query', allow: ['(?:users?|you|people) ask'] },
  { words: 'says|said|saying', use: 'reports, returns, contains, states', allow: ['(?:message|title) says'] },
  { words: 'knows|minds|wants|forgets|suffices?', use: '(what the software does: stores, checks, needs, removes)' },
  { words: 'stands|stand', use: 'is', allow: ['stands? for', 'stand-ins?', 'stands? in'] },
  { words: 'lies|lie', use: 'is' },
  { words: 'gives|given out', use: 'returns, shows, contains', allow: ['gives (?:a|the) (?:reason|decision)'] },
  { words: 'kept', use: 'stored, retained' },
  { words: 'deeds?', use: 'operation, action' },
  { words: 'unasked', use: 'by default' },
  { words: 'strangers?', use: 'external server, anonymous client' },
  { words: 'looked at|looks? at', use: 'read, check' },
  { words: 'in the hands of', use: '(name the process)' },
  { words: 'taken back|takes? back|taking back', use: 'revoke, undo' },
  { words: 'goes on|went on|going on', use: 'continues' },
  { words: '(?:and|or) (?:its|the) like', use: '(list them, or "such as")' },
  { words: 'runs? in flight', use: 'a run in progress' },
  { words: '(?:the|its|one|plain|recorded|same) wire', use: 'API, protocol', allow: ['on the wire'] },
  { words: '(?:answers?|answering) \\d{3}', use: 'returns' },
  { words: 'names no (?:fault|error)', use: 'reports no fault' },
  { words: 'lives? long|living long', use: 'long-lived' },
  { words: 'makers', use: 'vendors, providers' },
  { words: 'leads? (?:by|the (?:path|request)s?)', use: 'route' },
  { words: 'leave (?:it|them) so', use: 'leave it that way' },
  { words: 'at the latest', use: 'at most, within' },
  { words: 'pictures?', use: 'image' },
  {
    words: '(?:signed|read|web|upload|download|redirect|base|absolute|public) address(?:es)?',
    use: 'URL',
    allow: ['public (?:IP )?address(?:es)?(?= (?:of|or) (?:a|the) (?:host|server|machine))'],
  },
  { words: 'address(?:es)? of (?:an?|the) (?:image|asset|file|object|page|video|variant|stream)', use: 'URL' },
  { words: 'http://|https?-address(?:es)?|www', use: 'URL', allow: ['https?://\\S+'] },
  {
    words:
      'colou?rs? scheme of|(?:behaviou|colou|favou|neighbou|honou)rs?|cancell(?:ed|ing)|licence|centre|artefacts?|\\w+(?:al|or|mis|n)ise[sd]?|whilst|amongst|towards',
    use: 'the American spelling',
    allow: [
      'behaviors?',
      'colors?',
      'favors?',
      'neighbors?',
      'honors?',
      'otherwise',
      'noise',
      'raised?',
      'premise[sd]?',
      'promise[sd]?',
      'colors? scheme of',
    ],
  },
];
