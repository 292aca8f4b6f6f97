/** The tone of each status of an incident. */
export const incidentTones: Readonly<Record<string, 'bad' | 'busy' | 'good' | 'quiet'>> = {
  open: 'busy',
  upheld: 'bad',
  cleared: 'good',
};
