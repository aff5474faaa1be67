/** The API's types as the service answers: lists and keys are there that its description lets be null. */
import type * as client from '../../../clients/reelay-client/src/index.ts';

export type { AppInfo, MediaRendition } from '../../../clients/reelay-client/src/index.ts';

type Schemas = client.components['schemas'];
export type Chapter = Schemas['Chapter'];
export type Segment = Schemas['Segment'];
export type ArchiveProgress = Schemas['ArchiveProgress'];
export type AudioVersion = Pick<
  Schemas['AudioVersion'],
  'language' | 'isOriginal' | 'isDubbed' | 'isDescriptive' | 'isDrc'
>;

export interface StreamReference extends client.StreamReference {
  renditions?: client.MediaRendition[];
}

export interface MediaInformation extends client.MediaInformation {
  video?: StreamReference;
  audio?: StreamReference;
}

export interface ResourceInformation extends client.ResourceInformation {
  mediaItems: MediaInformation[];
}

export interface SubtitleInformation extends Pick<Schemas['SubtitleInformation'], 'name' | 'isAutomatic'> {
  key: string;
  language: string;
}

export interface MediaDetails extends client.MediaDetails {
  subtitles: SubtitleInformation[];
}
