export {
  type MediaInformation,
  type MediaRendition,
  type ResourceInformation,
  toResourceInformation,
} from './response.ts';
