import './styles/index.css';
import { startPage } from './ui/shell/index.ts';

void startPage();
