export { ItemDetails, type ItemDetailsProps } from './item-details.tsx';
export type { Chapter } from './media-details.ts';
export { subtitleName, useDetails } from './use-details.ts';
