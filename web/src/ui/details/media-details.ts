import type { Api, MediaDetails, Segment } from '../../api/index.ts';
import type { DetailedAudio } from '../../renditions/index.ts';

export interface LoadedDetails extends Omit<MediaDetails, 'audio'> {
  /** Every audio rendition, with those that GetResource leaves out, such as dubs. */
  readonly audio: readonly DetailedAudio[];
  /** When the site serves the media, in epoch milliseconds of this device. */
  readonly availableAtMs: number;
}

/** Loads the details of one item. @throws ApiFailure */
export async function loadDetails(api: Api, link: string): Promise<LoadedDetails> {
  const details = await api.getDetails(link);
  return {
    ...details,
    audio: details.audio.map((rendition) => ({ ...rendition, version: rendition })),
    availableAtMs: Date.now() + (details.availableInSeconds ?? 0) * 1000,
  };
}

/** Loads the sponsors of an item. @throws ApiFailure */
export const loadSponsors = async (api: Api, key: string): Promise<readonly Segment[]> =>
  (await api.getSegments(key)).filter(({ category }) => category === 'sponsor');
