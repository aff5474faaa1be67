import type { Outcome } from '../app-state.ts';
import { Item } from '../item/index.ts';
import { Playlist } from '../playlist/index.ts';

export interface ResolvedResultProps {
  readonly outcome: Extract<Outcome, { readonly phase: 'resolved' | 'batch' }>;
}

/** The item or playlist of a resolved link, or the links of a batch. */
export const ResolvedResult = ({ outcome }: ResolvedResultProps) => {
  if (outcome.phase === 'batch') return <Playlist key={outcome.links.join('\n')} resource={outcome.resource} isBatch />;
  const { type, mediaItems } = outcome.resource;
  const [first, second] = mediaItems ?? [];
  if (type === 'PlayList' || second || !first)
    return <Playlist key={outcome.link} resource={outcome.resource} link={outcome.link} />;
  return <Item key={outcome.link} item={first} />;
};
