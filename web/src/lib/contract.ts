/** The API's objects as the service itself declares them: types alone, nothing of the service comes into the page. */
export type {
  AppInfo,
  MediaInformation,
  MediaRendition,
  ResourceInformation,
  StreamReference,
} from '../../../layers/contract/index.ts';
