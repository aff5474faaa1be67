import type { Track } from '../../core/state/index.ts';
import { file } from './file/index.ts';
import { dash, hls } from './segmented/index.ts';
import type { SourceKind } from './source-kind.ts';

/** The registry: how each kind of track is opened. A new kind is one folder and one line here. */
export const sourceKinds: Readonly<Record<Track['delivery'], SourceKind>> = { direct: file, hls, dash };

/** Whether FFmpeg must remux a track before it can be sent, known before its source is open. */
export const needsRemux = ({ delivery }: Pick<Track, 'delivery'>): boolean => sourceKinds[delivery].needsRemux;
