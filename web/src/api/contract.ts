/** The API's types as `validate.ts` reads them: lists are there, empty where an instance leaves them out. */
import type * as client from '../../../clients/reelay-client/src/index.ts';

export type { AppInfo, MediaRendition } from '../../../clients/reelay-client/src/index.ts';

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
