import theme from 'vitepress/theme'
import Diagram from './Diagram.vue'
import './wide.css'

export default { extends: theme, enhanceApp: ({ app }) => app.component('Diagram', Diagram) }
