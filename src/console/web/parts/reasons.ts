/** The reasons of reports, for the people who report and for operators. */
export const reasonNames: Readonly<Record<string, string>> = {
  illegal: 'Illegal',
  minor: 'Sexualizes or endangers a child',
  intimate: 'Intimate without consent',
  violence: 'Violence',
  harassment: 'Harassment or hate',
  copyright: 'Copyright',
  privacy: 'Privacy',
  spam: 'Spam',
  other: 'Something else',
};
export const reasonOf = (reason: string): string => reasonNames[reason] ?? reason;
