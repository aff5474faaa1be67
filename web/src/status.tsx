import './styles/index.css';
import './styles/status.css';
import { startPage } from './ui/shell/index.ts';
import { StatusPage } from './ui/status/index.ts';

void startPage(<StatusPage />, '', true);
