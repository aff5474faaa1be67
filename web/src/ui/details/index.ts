export { ItemDetails, type ItemDetailsProps } from './item-details.tsx';
export { subtitleName, useDetails } from './use-details.ts';
