export { Item } from './item.tsx';
